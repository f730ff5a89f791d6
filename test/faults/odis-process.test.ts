/** `headgate odis signer` as it runs: exactly the quota over several processes, and through kill -9. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { countdown } from '../support/countdown.ts'
import { times } from '../support/counts.ts'
import { temporaryFolder } from '../support/folder.ts'
import { askSigner, provideKey, startSigner } from '../support/odis-process.ts'
import { requestFor } from '../support/odis-requests.ts'
import { type Sample, withQuota } from '../support/odis-samples.ts'
import type { Served } from '../support/serve.ts'

const requests = (sample: Sample, count: number) =>
  Array.from({ length: count }, (_, i) => requestFor(sample, { nonce: 1_000, session: `${i}` }))

const charged = async (signer: Served, sample: Sample): Promise<number> => {
  const request = requestFor(sample, { endpoint: 'quotaStatus' })
  return Number((await askSigner(signer, 'quotaStatus', request)).body.status?.['counter'])
}

describe('four signers on one database', () => {
  let folder: string
  let signers: readonly Served[]

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-'))
    await provideKey(folder)
    signers = await Promise.all([0, 1, 2, 3].map(() => startSigner(folder, '--workers', '1')))
  })
  afterAll(async () => {
    await Promise.all(signers.map(({ child }) => child.kill('SIGKILL')))
    rmSync(folder, { recursive: true, force: true })
  })

  test('64 valid requests at once on a fresh domain with quota 2: 2 answers', async () => {
    for (let round = 0; round < times(3, 100); round++) {
      const sample = withQuota(`round ${round}`, 2)
      const answers = await Promise.all(
        requests(sample, 64).map((body, i) => {
          const signer = signers[i % 4]
          if (signer === undefined) throw new Error('there are four')
          return askSigner(signer, 'sign', body)
        }),
      )
      const released = answers.filter(({ status }) => status === 200)
      expect(released.map(({ body }) => body.signature?.length)).toEqual([1536, 1536])
      const others = answers.filter(({ status }) => status !== 200).map(({ status }) => status)
      expect(new Set(others)).toEqual(new Set([429]))
    }
  })
})

test('kill -9 at any point of sign: no answer too many, none charged twice, retries always answered', async () => {
  const QUOTA = 4
  const folder = temporaryFolder()
  await provideKey(folder)
  let interrupted = 0
  for (let round = 0; round < times(1, 60); round++) {
    const sample = withQuota(`kill ${round}`, QUOTA)
    const bodies = requests(sample, QUOTA + 2)
    const first = await startSigner(folder, '--workers', '1')
    const answered = new Map<number, string | undefined>()
    // After one answer, two, … or none, while the next is being made.
    const { tick, over } = countdown((round + 1) % QUOTA)
    const signing = signInTurn(first, bodies, answered, tick)
    await Promise.race([over, signing])
    await first.child.kill('SIGKILL')
    await signing

    const second = await startSigner(folder, '--workers', '1')
    const kept = await charged(second, sample)
    if (kept < QUOTA) interrupted += 1
    expect(kept).toBeGreaterThanOrEqual(answered.size)
    expect(kept).toBeLessThanOrEqual(Math.min(QUOTA, answered.size + 1))
    for (const [i, signature] of answered) {
      const again = await askSigner(second, 'sign', bodies[i])
      expect([again.status, again.body.signature]).toEqual([200, signature])
    }
    expect(await charged(second, sample)).toBe(kept)
    const statuses: number[] = []
    for (const body of bodies) statuses.push((await askSigner(second, 'sign', body)).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(QUOTA)
    expect(await charged(second, sample)).toBe(QUOTA)
    await second.child.kill('SIGKILL')
  }
  expect(interrupted).toBeGreaterThan(0)
})

/** Notes the answers until the process is gone, and tells of each. */
async function signInTurn(
  signer: Served,
  bodies: readonly unknown[],
  answered: Map<number, string | undefined>,
  tell: () => void,
): Promise<void> {
  for (const [i, body] of bodies.entries()) {
    const answer = await askSigner(signer, 'sign', body).catch(() => undefined)
    if (answer === undefined) return
    if (answer.status === 200) answered.set(i, answer.body.signature)
    tell()
  }
}

test('garbage reaches no arithmetic, and a valid request beside it is answered', async () => {
  const folder = temporaryFolder()
  await provideKey(folder)
  const signer = await startSigner(folder, '--workers', '1')
  const sample = withQuota('garbage', 1)
  const valid = requestFor(sample, { nonce: 0 })
  const forged = { ...valid, sessionID: { defined: true, value: 'changed' } }
  const garbage = [{}, forged, { ...valid, blindedMessage: 'AAAA' }, { ...valid, domain: {} }]
  const statuses = await Promise.all(
    Array.from({ length: times(200, 2_000) }, async (_, i) => {
      const { status } = await askSigner(signer, 'sign', garbage[i % garbage.length])
      return status
    }),
  )
  expect(new Set(statuses)).toEqual(new Set([400, 401]))
  expect((await askSigner(signer, 'sign', valid)).status).toBe(200)
  const metrics = await (await fetch(`${signer.url}/metrics`)).text()
  expect(metrics).toContain('headgate_signer_evaluations_total 1\n')
})
