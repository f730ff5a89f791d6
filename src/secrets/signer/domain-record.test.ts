import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { everything } from '../../../test/support/everything.ts'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { none, type Sample, samples, varied } from '../../../test/support/odis-samples.ts'
import { signerBench } from '../../../test/support/odis-signer.ts'
import { seeded } from '../../../test/support/random.ts'
import { assert } from '../../core/errors.ts'
import type { Store } from '../../core/store.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock, restlessStore } from '../../testing/index.ts'
import { domainRegistry } from '../domains/domain-registry.ts'
import { uncappedRule } from '../rules/rule.ts'
import {
  chargeStep,
  decodeRecord,
  encodeRecord,
  lookStep,
  MAX_ENDLESS_ATTEMPTS,
} from './domain-record.ts'
import { readRequest } from './request.ts'

describe("a domain's record", () => {
  test('comes back as it was written', () => {
    const record = fc.record(
      {
        quota: fc.stringMatching(/^[0-9 ]{1,20}$/),
        disabled: fc.boolean(),
        charged: fc.maxSafeNat(),
      },
      { requiredKeys: ['disabled', 'charged'] },
    )
    fc.assert(
      fc.property(record, (each) => {
        expect(decodeRecord(encodeRecord(each))).toEqual(each)
      }),
    )
  })

  test('that was never written is live and unused', () => {
    expect(decodeRecord(undefined)).toEqual({ disabled: false, charged: 0 })
  })

  test('that cannot be read fails loudly, rather than giving attempts back', () => {
    for (const value of [
      '{}',
      'live',
      'live\n1 0 0',
      'live\n1 0 0\n',
      'live\n1 0 0\nx',
      'gone\n\n0',
    ]) {
      expect(() => decodeRecord(value), value).toThrow(/record/)
    }
  })
})

describe('a domain whose attempts never run out', () => {
  const body = new TextEncoder().encode(JSON.stringify(requestFor(samples('x')['linear backoff'])))
  const reading = { registry: domainRegistry(), endpoint: 'sign', conduct: 'cip40' } as const
  const request = readRequest(body, reading)
  assert('endpoint' in request && request.endpoint === 'sign', 'a request to sign')

  const attempt = (i: number) => ({
    request: {
      ...request,
      signingHash: Uint8Array.from(Buffer.from(String(i).padStart(64, '0'), 'hex')),
    },
    rule: uncappedRule,
    conduct: 'cip40' as const,
    keyVersion: 1,
    keyName: '1',
  })
  const charge = async (store: Store, i: number): Promise<boolean> => {
    const found = await store.transact((view) => chargeStep(view, attempt(i), new Uint8Array(1)))
    return found.kind === 'signed' && found.charged
  }
  const isKnown = async (store: Store, i: number): Promise<boolean> =>
    (await store.transact((view) => lookStep(view, attempt(i)))).kind === 'retry'

  test('remembers the newest 4,096 exactly, and keeps no key of an older one', async () => {
    const random = seeded(18)
    const store = restlessStore(memory({ clock: fakeClock() }), () => random.below(1_000) / 1_000)
    const count = MAX_ENDLESS_ATTEMPTS + 300
    for (let i = 0; i < count; i++) expect(await charge(store, i)).toBe(true)
    for (let i = 0; i < count; i++) expect(await isKnown(store, i), `${i}`).toBe(i >= 300)
    expect(await everything(store)).toHaveLength(1 + 2 * MAX_ENDLESS_ATTEMPTS)
    // A retry does not make it newer; one that was forgotten is charged, and pushes out the oldest.
    expect(await charge(store, 300)).toBe(false)
    expect(await charge(store, 0)).toBe(true)
    expect([await isKnown(store, 0), await isKnown(store, 300), await isKnown(store, 301)]).toEqual(
      [true, false, true],
    )
    expect(await everything(store)).toHaveLength(1 + 2 * MAX_ENDLESS_ATTEMPTS)
  })
})

test('only domains whose attempts never run out remember a number of them; all others remember all', async () => {
  const { peppered, ...all } = samples('ends')
  const linear = all['linear backoff']
  const ladder = all['cloud backup 2']
  const withoutEnd: Readonly<Record<string, readonly [Sample, boolean]>> = {
    'peppered, with a cap': [peppered, false],
    'peppered, without': [varied(peppered, { domain: { cap: none(0) } }), true],
    'linear backoff, refreshed': [linear, true],
    'linear backoff, not refreshed': [varied(linear, { domain: { refresh: none(0) } }), false],
    'cloud backup 2, endless': [ladder, true],
    'cloud backup 2, with an end': [varied(ladder, ladder.changes[0] ?? {}), false],
    'cloud backup': [all['cloud backup'], false],
    'sequential delay': [all['sequential delay'], false],
    'phone number': [all['phone number'], false],
  }
  for (const [name, [sample, endless]] of Object.entries(withoutEnd)) {
    const bench = signerBench()
    await bench.ask('sign', requestFor(sample, { nonce: 0 }))
    const kept = (await everything(bench.store)).map(({ key }) => key.split('/')[2])
    expect(kept, name).toEqual(['attempt', 'domain', ...(endless ? ['recent'] : [])])
  }
})
