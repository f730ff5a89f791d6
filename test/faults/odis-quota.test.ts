/** Exactly the quota, under any concurrency and any crash. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { everything } from '../../test/support/everything.ts'
import { type Child, startChild } from '../support/child.ts'
import { countdown } from '../support/countdown.ts'
import { times } from '../support/counts.ts'
import { temporaryFolder } from '../support/folder.ts'
import { requestFor } from '../support/odis-requests.ts'
import { type Sample, withQuota } from '../support/odis-samples.ts'
import { signerBench } from '../support/odis-signer.ts'

const SIGNER = 'test/faults/children/odis-signer.js'

const requests = (sample: Sample, count: number, name: string) =>
  Array.from({ length: count }, (_, i) =>
    requestFor(sample, { nonce: 1_000, session: `${name}-${i}` }),
  )

const inFile = (folder: string, name: string, bodies: readonly unknown[]): string => {
  const path = join(folder, `${name}.json`)
  writeFileSync(path, JSON.stringify(bodies))
  return path
}

test('64 valid requests at once from four processes on a fresh domain with quota 2: 2 answers', async () => {
  const folder = temporaryFolder()
  for (let round = 0; round < times(3, 100); round++) {
    const path = join(folder, `round-${round}.db`)
    const sample = withQuota(`round ${round}`, 2)
    const children = [0, 1, 2, 3].map((n) => {
      const bodies = inFile(folder, `${round}-${n}`, requests(sample, 16, `${n}`))
      return startChild(SIGNER, [path, bodies, 'together'])
    })
    for (const child of children) expect(await child.line()).toBe('ready')
    const released = await Promise.all(children.map((child) => child.line().then(Number)))
    expect(released.reduce((sum, n) => sum + n, 0)).toBe(2)
    expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0, 0, 0])
  }
})

test('one request 64 times at once from four processes: 64 answers, charged once', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'same.db')
  const sample = withQuota('same', 2)
  const [body] = requests(sample, 1, 'same')
  const bodies = inFile(folder, 'same', Array(16).fill(body))
  const children = [0, 1, 2, 3].map(() => startChild(SIGNER, [path, bodies, 'together']))
  for (const child of children) expect(await child.line()).toBe('ready')
  const released = await Promise.all(children.map((child) => child.line().then(Number)))
  expect(released).toEqual([16, 16, 16, 16])
  await Promise.all(children.map((child) => child.ended))
  const store = sqlite({ path })
  const status = requestFor(sample, { endpoint: 'quotaStatus' })
  const { body: reply } = await signerBench({ store }).ask('quotaStatus', status)
  expect(reply.status).toMatchObject({ counter: 1 })
  await store.close()
})

test('kill -9 at any point of sign: no answer too many, none charged twice, retries always answered', async () => {
  const QUOTA = 8
  const folder = temporaryFolder()
  const path = join(folder, 'signer.db')
  let interrupted = 0
  for (let round = 0; round < times(1, 200); round++) {
    const sample = withQuota(`round ${round}`, QUOTA)
    const bodies = requests(sample, QUOTA + 2, 'attempt')
    const child = startChild(SIGNER, [path, inFile(folder, `${round}`, bodies), 'in turn'])
    const answered = new Set<number>()
    expect(await child.line()).toBe('ready')
    // After one answer, two, … or none, while the next is being made.
    const { tick, over } = countdown((round + 1) % QUOTA)
    const listening = listen(child, answered, tick)
    await Promise.race([over, listening])
    await child.kill('SIGKILL')
    await listening

    const store = sqlite({ path })
    const bench = signerBench({ store })
    const charged = async () => {
      const status = await bench.ask('quotaStatus', requestFor(sample, { endpoint: 'quotaStatus' }))
      return Number(status.body.status?.['counter'])
    }
    const kept = await charged()
    if (kept < QUOTA) interrupted += 1
    expect(kept).toBeGreaterThanOrEqual(answered.size)
    expect(kept).toBeLessThanOrEqual(Math.min(QUOTA, answered.size + 1))
    for (const i of answered) expect((await bench.ask('sign', bodies[i])).status).toBe(200)
    expect(await charged()).toBe(kept)

    const statuses: number[] = []
    for (const body of bodies) statuses.push((await bench.ask('sign', body)).status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(QUOTA)
    expect(await charged()).toBe(QUOTA)
    const attempts = (await everything(store)).filter(({ key }) => key.includes('/attempt/'))
    expect(attempts).toHaveLength(QUOTA * (round + 1))
    await store.close()
  }
  expect(interrupted).toBeGreaterThan(0)
})

/** Notes the answers until the process is gone, and tells of each. */
async function listen(child: Child, answered: Set<number>, tell: () => void): Promise<void> {
  try {
    for (;;) {
      const [index, status] = (await child.line()).split(' ')
      if (status === '200') answered.add(Number(index))
      tell()
    }
  } catch {
    return
  }
}
