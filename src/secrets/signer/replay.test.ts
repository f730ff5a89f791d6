/** Requests that come again: charged once for each key version, whatever came between. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../../../test/support/counts.ts'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { type Fields, type Sample, samples, varied } from '../../../test/support/odis-samples.ts'
import { type Bench, signerBench } from '../../../test/support/odis-signer.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { readAudit } from './audit.ts'

const defined = (value: number) => ({ defined: true, value })

/** Domains that show a counter, each with so many attempts and no wait. */
const withAttempts = (count: number): Readonly<Record<string, Sample>> => {
  const { peppered, ...all } = samples('replay')
  const stage = { delay: '0', cumulative: false, batch: defined(count) }
  const backup = {
    rateLimit: { stages: [{ ...stage, repetitions: { defined: false, value: 0 } }] },
  }
  const step = { delay: 0, resetTimer: { defined: false, value: false }, batchSize: defined(count) }
  const stages = [{ ...step, repetitions: { defined: false, value: 0 } }]
  return {
    peppered: varied(peppered, { domain: { cap: defined(count) } }),
    'linear backoff': varied(all['linear backoff'], {
      domain: { cap: count, refresh: { defined: false, value: 0 } },
    }),
    'cloud backup': varied(all['cloud backup'], { domain: backup }),
    'sequential delay': varied(all['sequential delay'], { domain: { stages } }),
  }
}

const KEYS = {
  current: 1,
  find: (version: number) =>
    version === 1 || version === 2
      ? { kind: 'single' as const, secret: new Uint8Array(32).fill(version) }
      : undefined,
}

const openBench = (path: string) => signerBench({ store: sqlite({ path }), keys: KEYS })

/** Its nonce may run ahead, so that each may be sent at any time. */
const bodyOf = (sample: Sample, i: number): Fields =>
  requestFor(sample, { nonce: 1_000, session: `s${i}` })

const sign = (bench: Bench, body: Fields, version: number) =>
  bench.ask('sign', body, { 'odis-key-version': String(version) })

const counterOf = async (bench: Bench, sample: Sample): Promise<unknown> => {
  const reply = await bench.ask('quotaStatus', requestFor(sample, { endpoint: 'quotaStatus' }))
  return reply.body.status?.['counter']
}

test('65 requests without a nonce, then all of them again, oldest first: the counter stays at 65', async () => {
  const sample = withAttempts(1_000)['peppered'] ?? fail()
  const bench = signerBench()
  const bodies = Array.from({ length: 65 }, (_, i) => requestFor(sample, { session: `s${i}` }))
  for (const body of bodies) await bench.ask('sign', body)
  expect(await counterOf(bench, sample)).toBe(65)
  for (const body of bodies) expect((await bench.ask('sign', body)).status).toBe(200)
  expect(await counterOf(bench, sample)).toBe(65)
})

test('a retry under another key version is another answer, and another attempt', async () => {
  const sample = withAttempts(2)['peppered'] ?? fail()
  const bench = signerBench({ keys: KEYS })
  const body = bodyOf(sample, 0)
  const first = await sign(bench, body, 1)
  const second = await sign(bench, body, 2)
  expect(second.body.status).toMatchObject({ counter: 2, remaining: 0 })
  expect(second.body.signature).not.toBe(first.body.signature)
  // Both are known now: neither costs anything, although no attempt is left.
  expect((await sign(bench, body, 1)).body).toEqual({ ...first.body, status: second.body.status })
  expect((await sign(bench, body, 2)).body).toEqual(second.body)
})

test('a retry under another key of the same version is another attempt, on whichever signer that shares the store', async () => {
  const sample = withAttempts(1)['peppered'] ?? fail()
  const path = scratchFile()
  const [first, second] = [1, 2].map((byte) => {
    const bytes = new Uint8Array(32).fill(byte)
    const key = { kind: 'single' as const, secret: bytes, publicKey: bytes }
    const find = (version: number) => (version === 1 ? key : undefined)
    return signerBench({ store: sqlite({ path }), keys: { current: 1, find } })
  })
  if (first === undefined || second === undefined) return fail()
  const body = bodyOf(sample, 0)
  expect((await sign(first, body, 1)).status).toBe(200)
  expect((await sign(second, body, 1)).status).toBe(429)
  expect((await sign(first, body, 1)).status).toBe(200)
  expect([first.evaluations(), second.evaluations()]).toEqual([2, 0])
})

test('without attempts left, a retry under another key version is refused', async () => {
  const sample = withAttempts(1)['peppered'] ?? fail()
  const bench = signerBench({ keys: KEYS })
  expect((await sign(bench, bodyOf(sample, 0), 1)).status).toBe(200)
  expect((await sign(bench, bodyOf(sample, 0), 2)).status).toBe(429)
  expect(bench.evaluations()).toBe(1)
})

function fail(): never {
  throw new Error('there is such a domain')
}

const ATTEMPTS = 6

/** Request `i` under a key version, at one of two signers; or both signers are started anew. */
const deed = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ i: fc.nat(7), version: fc.constantFrom(1, 2), at: fc.nat(1) }),
  },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
)

for (const [name, sample] of Object.entries(withAttempts(ATTEMPTS))) {
  test(`${name}: whatever is asked, again, under other versions, at two signers of one file and over restarts, the counter is the number of requests and versions that were granted`, async () => {
    const bodies = Array.from({ length: 8 }, (_, i) => bodyOf(sample, i))
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 10, maxLength: 25 }), async (deeds) => {
        const path = scratchFile()
        let benches = [openBench(path), openBench(path)]
        const close = () => Promise.all(benches.map(({ store }) => store.close()))
        const granted = new Map<string, string | undefined>()
        for (const each of deeds) {
          if (each === 'restart') {
            await close()
            benches = [openBench(path), openBench(path)]
            continue
          }
          const { i, version, at } = each
          const [bench, body] = [benches[at] ?? fail(), bodies[i] ?? fail()]
          const { status, body: reply } = await sign(bench, body, version)
          const known = granted.has(`${i} ${version}`)
          expect(status).toBe(known || granted.size < ATTEMPTS ? 200 : 429)
          if (known) expect(reply.signature).toBe(granted.get(`${i} ${version}`))
          else if (status === 200) granted.set(`${i} ${version}`, reply.signature)
          expect(reply.status).toMatchObject({ counter: granted.size })
        }
        const { store } = benches[0] ?? fail()
        expect((await readAudit(store, '', 100)).entries).toHaveLength(granted.size)
        await close()
      }),
      { numRuns: times(2, 60) },
    )
  }, 600_000)
}
