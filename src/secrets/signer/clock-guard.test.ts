/** A clock that leaps releases nothing early and locks nothing; sleep, idleness and reboots are no leaps. */

import { describe, expect, test } from 'vitest'
import { everything } from '../../../test/support/everything.ts'
import { fakeMachine } from '../../../test/support/fake-machine.ts'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { samples } from '../../../test/support/odis-samples.ts'
import { signerBench } from '../../../test/support/odis-signer.ts'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import type { Store } from '../../core/store.ts'
import { type Instant, instant, type Span, seconds } from '../../core/time.ts'
import type { TimeSource } from '../../lib/time-sources.ts'
import { memory } from '../../stores/memory/index.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { pretendedCluster } from '../../testing/index.ts'
import { readAudit } from './audit.ts'
import { repairClock, watchClock } from './clock-guard.ts'
import { clockKey } from './clock-record.ts'
import { SHARDS } from './shards.ts'

const HOUR = 3_600

const cluster = (clock: () => Instant): Store => pretendedCluster(memory({ clock }))

const scene = async (open: (clock: () => Instant) => Store = cluster) => {
  const machine = fakeMachine()
  const store = open(machine.clock)
  const bench = signerBench({ store, machine: machine.read })
  const watch = (sources: readonly TimeSource[] = []) =>
    watchClock({ store, machine: machine.read, sources })
  expect(await watch()).toMatchObject({ trusted: true, basis: 'first' })
  return { ...machine, store, bench, watch }
}

/** Two attempts at once, and one more after 60 seconds. */
const sample = samples('clock')['sequential delay']
const attempt = (nonce: number) => requestFor(sample, { nonce, session: `${nonce}` })

describe('a clock that leaps five hours ahead', () => {
  test('releases no attempt, costs none, and locks nothing once it is set right', async () => {
    const { bench, leap, pass, store } = await scene()
    for (const nonce of [0, 1]) expect((await bench.ask('sign', attempt(nonce))).status).toBe(200)
    const before = await everything(store)
    leap(5 * HOUR)
    const refused = await bench.ask('sign', attempt(2))
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '60' } })
    expect(refused.body).toEqual({
      success: false,
      version: expect.any(String),
      error: 'CLOCK_UNTRUSTED the signer does not trust its clock',
    })
    expect(bench.evaluations()).toBe(2)
    expect(await everything(store)).toEqual(before)
    leap(-5 * HOUR)
    expect((await bench.ask('sign', attempt(2))).status).toBe(429)
    pass(60)
    expect((await bench.ask('sign', attempt(2))).status).toBe(200)
  })

  test('without a guard would release it, and then lock the domain for those hours', async () => {
    const { clock, leap, pass } = fakeMachine()
    const bench = signerBench({ store: memory({ clock }) })
    const longer = { ...sample, domain: { ...sample.domain, stages: STAGES } }
    const ask = (nonce: number) => bench.ask('sign', requestFor(longer, { nonce }))
    expect((await ask(0)).status).toBe(200)
    leap(5 * HOUR)
    expect((await ask(1)).status).toBe(200)
    leap(-5 * HOUR)
    pass(60)
    expect(await ask(2)).toMatchObject({ status: 429, headers: { 'retry-after': `${5 * HOUR}` } })
  })

  test('answers no retry either, while quotas can be asked for and domains disabled', async () => {
    const { bench, leap } = await scene()
    expect((await bench.ask('sign', attempt(0))).status).toBe(200)
    leap(5 * HOUR)
    expect((await bench.ask('sign', attempt(0))).status).toBe(503)
    for (const endpoint of ['quotaStatus', 'disable'] as const) {
      expect((await bench.ask(endpoint, requestFor(sample, { endpoint }))).status).toBe(200)
    }
  })

  test('is found where it leaps during an evaluation: the attempt is neither answered nor charged', async () => {
    const { clock, read, leap, pass } = fakeMachine()
    const store = memory({ clock })
    await watchClock({ store, machine: read })
    let leaps = 5 * HOUR
    const evaluator = {
      evaluate: async () => {
        leap(leaps)
        return new Uint8Array(32)
      },
    }
    const bench = signerBench({ store, machine: read, evaluator })
    expect((await bench.ask('sign', attempt(0))).status).toBe(503)
    leap(-leaps)
    leaps = 0
    pass(1)
    expect((await bench.ask('sign', attempt(0))).body.status).toMatchObject({ counter: 1 })
  })
})

const STAGES = Array.from({ length: 3 }, (_, i) => ({
  delay: i === 0 ? 0 : 60,
  resetTimer: { defined: true, value: true },
  batchSize: { defined: false, value: 0 },
  repetitions: { defined: false, value: 0 },
}))

describe('the judgement', () => {
  test('a minute off is a correction, more is a leap, either way', async () => {
    for (const [off, status] of [
      [60, 200],
      [61, 503],
    ] as const) {
      const ahead = await scene()
      ahead.leap(off)
      expect((await ahead.bench.ask('sign', attempt(0))).status).toBe(status)
      const back = await scene()
      back.pass(30)
      back.leap(-off)
      expect(await back.watch()).toMatchObject({
        trusted: false,
        reason: off === 61 ? 'leapt' : 'behind',
      })
    }
  })

  test('behind the newest record it waits until it has caught up, and says how long', async () => {
    const { bench, pass, leap, watch } = await scene()
    pass(60)
    await watch()
    leap(-30)
    const early = await bench.ask('sign', attempt(0))
    expect(early).toMatchObject({ status: 503, headers: { 'retry-after': '30' } })
    pass(29)
    expect((await bench.ask('sign', attempt(0))).headers['retry-after']).toBe('1')
    pass(1)
    expect((await bench.ask('sign', attempt(0))).status).toBe(200)
  })

  test('sleep and idleness, however long, are no leap', async () => {
    const { bench, pass, watch } = await scene()
    for (const [nonce, days] of [1, 30, 400].entries()) {
      pass(days * 24 * HOUR)
      expect((await bench.ask('sign', attempt(nonce))).status).toBe(200)
      expect(await watch()).toEqual({ trusted: true, offBy: 0, basis: 'record' })
    }
  })

  test('nor is sleep while the store is asked: at the first look, at a repair and at an attempt', async () => {
    const { clock, pass, read } = fakeMachine()
    const store = memory({ clock })
    let asleep = HOUR
    const slow: Store = {
      ...store,
      transact: (...call) => {
        pass(asleep)
        asleep = 0
        return store.transact(...call)
      },
    }
    const watch = () => watchClock({ store: slow, machine: read })
    expect(await watch()).toMatchObject({ basis: 'first' })
    expect(await watch()).toMatchObject({ trusted: true, offBy: 0 })
    asleep = HOUR
    const found = { trusted: true, offBy: 0 }
    expect(await repairClock({ store: slow, machine: read })).toMatchObject({ found })
    asleep = HOUR
    const bench = signerBench({ store: slow, machine: read })
    expect((await bench.ask('sign', attempt(0))).status).toBe(200)
  })

  test('nothing is signed before the first look', async () => {
    const { clock, read } = fakeMachine()
    const store = memory({ clock })
    const bench = signerBench({ store, machine: read })
    expect((await bench.ask('sign', attempt(0))).status).toBe(503)
    await watchClock({ store, machine: read })
    expect((await bench.ask('sign', attempt(0))).status).toBe(200)
  })

  test('of two processes on one file, the one with the wrong clock signs nothing, and the other goes on', async () => {
    const path = scratchFile()
    const right = await scene((clock) => sqlite({ path, clock }))
    const wrong = fakeMachine()
    wrong.leap(5 * HOUR)
    const store = sqlite({ path, clock: wrong.clock })
    expect(await watchClock({ store, machine: wrong.read })).toMatchObject({
      trusted: false,
      reason: 'leapt',
      offBy: seconds(5 * HOUR),
    })
    const other = signerBench({ store, machine: wrong.read })
    expect((await other.ask('sign', attempt(0))).status).toBe(503)
    expect((await right.bench.ask('sign', attempt(0))).status).toBe(200)
    await Promise.all([store.close(), right.store.close()])
  })

  test('a record that cannot be read fails loudly, and nothing is signed', async () => {
    const { store, bench, watch } = await scene()
    for (const key of SHARDS.map(clockKey)) {
      const writes = [{ key, value: 'x' }]
      await store.transact(() => ({ writes, appends: [], result: undefined }))
    }
    expect((await bench.ask('sign', attempt(0))).status).toBe(500)
    await expect(watch()).rejects.toThrow('not whole microseconds')
  })
})

describe('small corrections', () => {
  const DAY = 24 * HOUR

  /** A year of days, each with a correction, looked at every hour: how many days passed in trust. */
  const daysTrusted = async (correction: number): Promise<number> => {
    const { pass, leap, watch } = await scene((clock) => memory({ clock }))
    for (let day = 0; day < 365; day++) {
      leap(correction)
      for (let hour = 0; hour < 24; hour++) {
        pass(HOUR)
        if (!(await watch()).trusted) return day
      }
    }
    return 365
  }

  test('are followed, up to 500 ppm: 43.2 s a day', async () => {
    expect(await daysTrusted(40)).toBe(365)
    expect(await daysTrusted(43)).toBe(365)
  })

  test('that add up faster are a leap within days, whatever the size of each', async () => {
    expect(await daysTrusted(50)).toBeLessThan(3)
    expect(await daysTrusted(59)).toBeLessThan(3)
  })

  test('move the record by a two-thousandth of the time that passed, and no more, either way', async () => {
    for (const way of [1, -1]) {
      const { pass, leap, watch } = await scene()
      leap(way * 59)
      pass(DAY)
      expect(await watch()).toMatchObject({ trusted: true, offBy: way * seconds(59) })
      pass(1)
      expect(await watch()).toMatchObject({ offBy: way * (seconds(59) - seconds(43.2)) })
    }
  })

  test('are written once a minute, however often the clock is looked at', async () => {
    const { pass, store, watch } = await scene()
    const written = new Set<string>()
    for (let i = 0; i < 30; i++) {
      pass(10)
      await watch()
      for (const { value } of await everything(store)) written.add(value)
    }
    expect(written.size).toBe(1 + 5)
  })
})

describe('after a reboot', () => {
  test('without time sources the clock is taken as it is, unless it is behind the newest record', async () => {
    const { bench, pass, leap, reboot, watch } = await scene()
    pass(HOUR)
    await watch()
    reboot('boot-2')
    leap(-10)
    expect(await watch()).toEqual({ trusted: false, reason: 'behind', offBy: seconds(-10) })
    leap(5 * HOUR)
    expect((await bench.ask('sign', attempt(0))).status).toBe(503)
    expect(await watch()).toEqual({ trusted: true, offBy: 0, basis: 'nothing' })
    expect(await watch()).toEqual({ trusted: true, offBy: 0, basis: 'record' })
    expect((await bench.ask('sign', attempt(0))).status).toBe(200)
  })

  const sources = (told: readonly (Instant | undefined)[]): readonly TimeSource[] =>
    told.map((at) => async () => {
      if (at === undefined) throw new Error('no answer')
      return at
    })

  test('more than half of the time sources must agree with it to a minute', async () => {
    const near = (point: Instant, off: number): Instant => instant(point + seconds(off))
    const { clock, reboot, watch } = await scene()
    const [right, early, late] = [clock(), near(clock(), -61), near(clock(), 61)]
    reboot('boot-2')
    for (const told of [[undefined], [early], [late], [right, early], [right, undefined, late]]) {
      expect(await watch(sources(told))).toEqual({ trusted: false, reason: 'unconfirmed' })
    }
    const agreeing = [near(right, 60), undefined, near(right, -60)]
    expect(await watch(sources(agreeing))).toMatchObject({ trusted: true, basis: 'sources' })
    let asked = 0
    const counting = async () => {
      asked += 1
      return right
    }
    expect(await watch([counting])).toMatchObject({ trusted: true, basis: 'record' })
    expect(asked, 'once it is recorded').toBe(0)
  })

  test('a clock that the sources contradict is trusted once it is set right', async () => {
    const { bench, clock, leap, reboot, watch } = await scene()
    const right = clock()
    reboot('boot-2')
    leap(5 * HOUR)
    expect(await watch(sources([right]))).toMatchObject({ trusted: false })
    expect((await bench.ask('sign', attempt(0))).status).toBe(503)
    leap(-5 * HOUR)
    expect(await watch(sources([right]))).toMatchObject({ trusted: true })
    expect((await bench.ask('sign', attempt(0))).status).toBe(200)
  })

  test('sources that take long to answer are not taken for a slow clock', async () => {
    const { clock, pass, reboot, watch } = await scene()
    reboot('boot-2')
    const prompt = async () => clock()
    const slow = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      pass(HOUR)
      return clock()
    }
    expect(await watch([prompt, slow])).toMatchObject({ trusted: true, basis: 'sources' })
  })

  test('sixteen boots are remembered, those seen last', async () => {
    const { store, pass, reboot, watch } = await scene()
    for (let i = 2; i <= 20; i++) {
      pass(HOUR)
      reboot(`boot-${i}`)
      await watch()
    }
    const [value = ''] = await store.transact((view) => ({
      writes: [],
      appends: [],
      result: view.read(clockKey('0')),
    }))
    const boots = value.split('\n').slice(1)
    expect(boots.map((line) => line.split(' ')[0])).toEqual(
      Array.from({ length: 16 }, (_, i) => `boot-${i + 5}`),
    )
  })
})

describe('a repair', () => {
  test('accepts the clock as it is, and says so in the audit stream', async () => {
    const { bench, clock, leap, read, store, watch } = await scene()
    leap(-5 * HOUR)
    expect(await watch()).toMatchObject({ trusted: false })
    const correction: Span = seconds(-5 * HOUR)
    expect(await repairClock({ store, machine: read })).toEqual({
      found: { trusted: false, reason: 'leapt', offBy: correction },
      now: clock(),
    })
    expect(await watch()).toMatchObject({ trusted: true, basis: 'record' })
    expect((await bench.ask('sign', attempt(0))).status).toBe(200)
    const [entry] = (await readAudit(store, '', 10)).entries
    expect(entry).toEqual({
      place: '0-1',
      at: clock(),
      event: 'clock repaired',
      record: clockKey('0'),
      correction,
    })
  })

  test('of a clock that no source confirms accepts it too', async () => {
    const { reboot, read, store, watch } = await scene()
    reboot('boot-2')
    const silent: TimeSource = () => Promise.reject(new Error('no answer'))
    expect(await watch([silent])).toMatchObject({ reason: 'unconfirmed' })
    await repairClock({ store, machine: read })
    expect(await watch([silent])).toMatchObject({ trusted: true })
  })

  test('forgets what other machines recorded: they are taken as after a reboot', async () => {
    const { leap, read, store } = await scene()
    const other = () => ({ boot: 'boot-9', uptime: read().uptime })
    const watchOther = () => watchClock({ store, machine: other })
    expect(await watchOther()).toMatchObject({ basis: 'nothing' })
    leap(5 * HOUR)
    expect(await watchOther()).toMatchObject({ reason: 'leapt' })
    await repairClock({ store, machine: read })
    expect(await watchOther()).toMatchObject({ basis: 'nothing' })
  })

  test('of a clock that is trusted changes nothing', async () => {
    const { pass, read, store } = await scene()
    pass(HOUR)
    const before = await everything(store)
    expect(await repairClock({ store, machine: read })).toMatchObject({ found: { trusted: true } })
    expect(await everything(store)).toEqual(before)
    expect(await readAudit(store, '', 10)).toMatchObject({ entries: [] })
  })
})
