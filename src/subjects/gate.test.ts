import { describe, expect, onTestFinished, test } from 'vitest'
import { openGate, PROVIDER } from '../../test/support/subject-gate.ts'
import { after, hours, seconds } from '../core/time.ts'
import { memory } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/index.ts'
import { createSubjectGate } from './gate.ts'
import { effectStream } from './rates/rate-records.ts'
import { createRates } from './rates/rates.ts'

const ADA = { issuer: 'did:key:zAda', chain: [] }

const block = { subject: 'a.test', rate: 0 }

describe('a block', () => {
  test('holds in any spelling, and for everything within the subject', async () => {
    const { rates, gate } = await openGate()
    await rates.add(block, ADA)
    await gate.catchUp()
    for (const subject of [
      'a.test',
      'A.TEST',
      'x@a.test',
      'https://www.a.test/',
      'did:web:a.test',
    ]) {
      expect(gate.judge([subject]).state).toBe('blocked')
    }
    expect(gate.judge(['b.test', 'x@b.test']).state).toBe('clear')
    expect(gate.judge(['b.test', 'x@a.test']).state).toBe('blocked')
  })

  test.each([0, -1])('is a rate of 0 or less: %d', async (rate) => {
    const { rates, gate } = await openGate()
    await rates.add({ ...block, rate }, ADA)
    await gate.catchUp()
    expect(gate.judge(['a.test'])).toMatchObject({
      state: 'blocked',
      by: { subject: 'a.test', form: 'name:a.test' },
    })
  })

  test('a positive rate blocks nothing; the smallest is given', async () => {
    const { rates, gate } = await openGate()
    await rates.add({ ...block, rate: 5 }, ADA)
    await rates.add({ ...block, rate: 2.5 }, ADA)
    await gate.catchUp()
    expect(gate.judge(['a.test']).state).toBe('clear')
    expect(gate.smallestRate(['x.a.test'])).toBe(2.5)
    expect(gate.smallestRate(['b.test'])).toBeUndefined()
  })

  test('ends when it is removed, but another one goes on', async () => {
    const { rates, gate } = await openGate()
    const first = await rates.add(block, ADA)
    const second = await rates.add(block, ADA)
    await gate.catchUp()
    await rates.remove([first.ok?.id ?? ''], ADA)
    await gate.catchUp()
    expect(gate.judge(['a.test']).state).toBe('blocked')
    await rates.remove([second.ok?.id ?? ''], ADA)
    await gate.catchUp()
    expect(gate.judge(['a.test']).state).toBe('clear')
  })

  test('ends by itself when it expires', async () => {
    const { rates, gate, clock } = await openGate()
    await rates.add({ ...block, expiresAt: after(clock(), hours(1)) }, ADA)
    await gate.catchUp()
    expect(gate.judge(['a.test']).state).toBe('blocked')
    clock.advance(hours(1))
    expect(gate.judge(['a.test']).state).toBe('clear')
  })
})

test('what was there before the gate opened is known, though the stream was trimmed', async () => {
  const clock = fakeClock()
  const store = memory({ clock })
  const rates = createRates({ store, provider: PROVIDER })
  await rates.add(block, ADA)
  await store.trim(effectStream(PROVIDER), 1_000)
  const gate = createSubjectGate({ store, provider: PROVIDER, clock, uptime: () => seconds(1) })
  onTestFinished(gate.close)
  await gate.catchUp()
  expect(gate.judge(['a.test']).state).toBe('blocked')
})

test('more rates than fit on a page are all known', async () => {
  const { rates, gate } = await openGate()
  for (let n = 0; n < 2_100; n++) await rates.add({ subject: `${n}.test`, rate: 0 }, ADA)
  await gate.catchUp()
  for (const n of [0, 999, 1_000, 2_099]) expect(gate.judge([`${n}.test`]).state).toBe('blocked')
})

test('ten thousand judgements make no round trip to the store', async () => {
  let calls = 0
  const counted =
    <A extends readonly unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      calls += 1
      return call(...args)
    }
  const { gate } = await openGate((store) => ({
    ...store,
    transact: (step, guess) => counted(() => store.transact(step, guess))(),
    read: counted(store.read),
    range: counted(store.range),
  }))
  await gate.catchUp()
  const before = calls
  for (let n = 0; n < 10_000; n++) gate.judge([`user-${n}@a.test`, '192.0.2.1'])
  expect(calls - before).toBe(0)
})
