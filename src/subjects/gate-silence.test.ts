import { describe, expect, test } from 'vitest'
import { openGate, PROVIDER } from '../../test/support/subject-gate.ts'
import { StoreError } from '../core/errors.ts'
import { millis, seconds } from '../core/time.ts'
import { createRates } from './rates/rates.ts'

const ADA = { issuer: 'did:key:zAda', chain: [] }
const block = { subject: 'a.test', rate: 0 }

/** A gate that has read everything, on a store that stops answering. */
const openFallingSilent = async () => {
  let answers = true
  const opened = await openGate((store) => ({
    ...store,
    read: (...args) => (answers ? store.read(...args) : new Promise(() => {})),
  }))
  await opened.gate.catchUp()
  const fallSilent = (): void => {
    answers = false
  }
  return { ...opened, fallSilent }
}

describe('a store that is silent', () => {
  test('nothing is known before its first answer, which is waited for', async () => {
    let answer = () => {}
    const asked = new Promise<void>((resolve) => {
      answer = resolve
    })
    const { gate, rates } = await openGate((store) => ({
      ...store,
      range: (...args) => asked.then(() => store.range(...args)),
    }))
    await rates.add(block, ADA)
    expect(gate.judge(['a.test']).state).toBe('stale')
    expect(gate.isHeard()).toBe(false)
    const ready = gate.ready(['a.test'])
    answer()
    await ready
    expect(gate.judge(['a.test']).state).toBe('blocked')
    expect(gate.isHeard()).toBe(true)
  })

  test('counts as down after a second of running, until it answers again', async () => {
    const { gate, run, fallSilent } = await openFallingSilent()
    fallSilent()
    await run(millis(900))
    expect([gate.isHeard(), gate.ready([]), gate.judge(['b.test']).state]).toEqual([
      true,
      undefined,
      'clear',
    ])
    await run(millis(300))
    expect([gate.isHeard(), gate.ready([]), gate.judge(['b.test']).state]).toEqual([
      false,
      undefined,
      'stale',
    ])
  })

  test('a block that is known holds all the same', async () => {
    let broken = false
    const error = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'is up' })
    const { gate, rates, run } = await openGate((store) => ({
      ...store,
      read: (...args) => (broken ? Promise.reject(error) : store.read(...args)),
    }))
    await rates.add(block, ADA)
    await gate.catchUp()
    broken = true
    await run(seconds(2))
    await expect(gate.catchUp()).rejects.toBe(error)
    expect(gate.judge(['b.test']).state).toBe('stale')
    expect(gate.judge(['a.test']).state).toBe('blocked')
    broken = false
    await run(millis(200))
    expect(gate.judge(['b.test']).state).toBe('clear')
  })

  test('that answers in part and then fails, again and again, is as silent', async () => {
    const error = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'is up' })
    const { gate, run } = await openGate((store) => ({
      ...store,
      range: () => Promise.reject(error),
    }))
    const waiting = gate.ready(['a.test'])
    await run(millis(1_200))
    await waiting
    expect(gate.judge(['a.test']).state).toBe('stale')
  })

  test('whoever waits for its answer waits a second of running at most', async () => {
    const { gate, run } = await openGate((store) => ({
      ...store,
      range: () => new Promise(() => {}),
    }))
    let waited = false
    const waiting = gate.ready(['a.test'])?.then(() => {
      waited = true
    })
    await run(millis(900))
    expect(waited).toBe(false)
    await run(millis(200))
    await waiting
    expect(gate.judge(['a.test']).state).toBe('stale')
  })
})

describe('a process that stood still', () => {
  test('takes an answer for as old as its question, and asks again', async () => {
    let held = Promise.resolve()
    let answer = () => {}
    const { gate, run, freeze } = await openGate((store) => ({
      ...store,
      read: (...args) => held.then(() => store.read(...args)),
    }))
    await gate.catchUp()
    held = new Promise((resolve) => {
      answer = resolve
    })
    await run(millis(200))
    freeze(seconds(2))
    answer()
    await new Promise((resolve) => setImmediate(resolve))
    expect(gate.judge(['b.test']).state).toBe('stale')
    await gate.ready(['b.test'])
    expect(gate.judge(['b.test']).state).toBe('clear')
  })

  test('asks the store before it judges: a block set meanwhile refuses', async () => {
    const { gate, rates, freeze } = await openGate()
    await gate.catchUp()
    freeze(seconds(30))
    await rates.add(block, ADA)
    expect(gate.isHeard()).toBe(true)
    expect(gate.judge(['a.test']).state).toBe('stale')
    await gate.ready(['a.test'])
    expect(gate.judge(['a.test']).state).toBe('blocked')
  })

  test('goes by no answer to a question that it asked before', async () => {
    let held: (() => void) | undefined
    const { gate, rates, freeze, run } = await openGate((store) => ({
      ...store,
      read: async (...args) => {
        const found = await store.read(...args)
        if (held !== undefined) await new Promise<void>((resolve) => (held = resolve))
        return found
      },
    }))
    await gate.catchUp()
    held = () => {}
    await run(millis(210))
    freeze(seconds(30))
    await rates.add(block, ADA)
    const waiting = gate.ready(['a.test'])
    const release = held
    held = undefined
    release()
    await waiting
    expect(gate.judge(['a.test']).state).toBe('blocked')
  })

  test('goes on asking where the first attempt fails: its connections may have gone', async () => {
    let failures = 0
    const error = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'is up' })
    const { gate, rates, freeze, run } = await openGate((store) => ({
      ...store,
      read: (...args) => {
        failures -= 1
        return failures < 0 ? store.read(...args) : Promise.reject(error)
      },
    }))
    await gate.catchUp()
    freeze(seconds(30))
    await rates.add(block, ADA)
    failures = 2
    const waiting = gate.ready(['a.test'])
    await run(millis(600))
    await waiting
    expect(gate.judge(['a.test']).state).toBe('blocked')
  })
})

describe('a change through the store of the gate', () => {
  test('is felt here when the call that made it answers', async () => {
    const { gate } = await openGate()
    await gate.catchUp()
    const here = createRates({ store: gate.store, provider: PROVIDER })
    const { ok } = await here.add(block, ADA)
    expect(gate.judge(['a.test']).state).toBe('blocked')
    await here.remove([ok?.id ?? ''], ADA)
    expect(gate.judge(['a.test']).state).toBe('clear')
  })

  test('is answered though the store falls silent after it', async () => {
    const { gate, run, fallSilent } = await openFallingSilent()
    fallSilent()
    const adding = createRates({ store: gate.store, provider: PROVIDER }).add(block, ADA)
    await run(seconds(2))
    expect((await adding).ok?.rate).toBe(0)
  })
})
