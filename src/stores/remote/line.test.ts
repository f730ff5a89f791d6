import { describe, expect, test } from 'vitest'
import { makeMistake } from '../../core/errors.ts'
import { millis, seconds, span } from '../../core/time.ts'
import { storeFenced } from '../fence.ts'
import { openLine, openLines, type StoreEvent } from './line.ts'

class Answered extends Error {}

const setting = () => {
  let running = 0
  const line = openLine({
    thing: 'the store',
    isAnswer: (cause) => cause instanceof Answered,
    timeout: millis(20),
    uptime: () => span(running),
  })
  let asked = 0
  const ask = (work: () => Promise<unknown>) =>
    line.ask(() => {
      asked += 1
      return work()
    })
  return {
    ask,
    asked: () => asked,
    pass: (micros: number) => {
      running += micros
    },
  }
}

const cut = async () => {
  throw new Error('cut')
}
const silence = () => new Promise(() => {})
const fine = async () => 'fine'
const UNAVAILABLE = expect.objectContaining({ code: 'STORE_UNAVAILABLE' })

test('an answer is passed on, and a failure is a store that is unwell, in its own words', async () => {
  const { ask } = setting()
  expect(await ask(fine)).toBe('fine')
  await expect(ask(cut)).rejects.toEqual(UNAVAILABLE)
  await expect(ask(cut)).rejects.toThrow('the store: must be reachable and take writes, found cut')
})

test('a wait ends', async () => {
  const { ask } = setting()
  await expect(ask(silence)).rejects.toThrow('no answer within 20 ms')
})

test('what is wrong with the server by our own rules is passed on as it is', async () => {
  const { ask } = setting()
  const mistake = makeMistake('TOO_OLD', 'the store', 'must be new')
  await expect(
    ask(async () => {
      throw mistake
    }),
  ).rejects.toBe(mistake)
})

describe('once nobody answers', () => {
  test('calls fail at once, and one after half a second finds out', async () => {
    const { ask, asked, pass } = setting()
    await expect(ask(silence)).rejects.toEqual(UNAVAILABLE)
    for (let i = 0; i < 100; i++) await expect(ask(fine)).rejects.toEqual(UNAVAILABLE)
    expect(asked()).toBe(1)
    pass(millis(500))
    expect(await ask(fine)).toBe('fine')
    expect(await ask(fine)).toBe('fine')
  })

  test('while that one asks, the others do not wait for it', async () => {
    const { ask, asked, pass } = setting()
    await expect(ask(silence)).rejects.toEqual(UNAVAILABLE)
    pass(millis(500))
    const probe = ask(silence)
    await expect(ask(fine)).rejects.toEqual(UNAVAILABLE)
    await expect(probe).rejects.toEqual(UNAVAILABLE)
    expect(asked()).toBe(2)
  })

  test('one cut connection is not yet nobody, two in a row are', async () => {
    const { ask, asked } = setting()
    await expect(ask(cut)).rejects.toEqual(UNAVAILABLE)
    expect(await ask(fine)).toBe('fine')
    await expect(ask(cut)).rejects.toEqual(UNAVAILABLE)
    await expect(ask(cut)).rejects.toEqual(UNAVAILABLE)
    await expect(ask(fine)).rejects.toEqual(UNAVAILABLE)
    expect(asked()).toBe(4)
  })

  test('a server that answers with an error is there', async () => {
    const { ask, asked, pass } = setting()
    const unwell = async () => {
      throw new Answered('out of memory')
    }
    for (let i = 0; i < 5; i++) await expect(ask(unwell)).rejects.toThrow('out of memory')
    expect(asked()).toBe(5)
    await expect(ask(silence)).rejects.toEqual(UNAVAILABLE)
    pass(seconds(1))
    await expect(ask(unwell)).rejects.toThrow('out of memory')
    expect(await ask(fine)).toBe('fine')
  })
})

test('a server that answers with a fence is there again', async () => {
  const { ask, asked, pass } = setting()
  const fenced = storeFenced('the store', 'export-1')
  const refuse = async () => {
    throw fenced
  }
  await expect(ask(silence)).rejects.toEqual(UNAVAILABLE)
  pass(millis(500))
  await expect(ask(refuse)).rejects.toBe(fenced)
  expect(await ask(fine)).toBe('fine')
  expect(asked()).toBe(3)
})

describe('those who run it are told', () => {
  const watched = () => {
    let running = 0
    const told: StoreEvent[] = []
    const newLine = openLines({
      thing: 'the store',
      isAnswer: (cause) => cause instanceof Answered,
      timeout: millis(20),
      uptime: () => span(running),
      observe: (event) => told.push(event),
    })
    return {
      newLine,
      pass: (micros: number) => {
        running += micros
      },
      /** Since the last time. */
      told: () => told.splice(0).map((event) => ('outcome' in event ? event.outcome : event.kind)),
    }
  }
  const lost = async (asked: Promise<unknown>) => expect(asked).rejects.toEqual(UNAVAILABLE)

  test('how each trip ended, when nobody answers, what was spared, and when somebody does again', async () => {
    const { newLine, pass, told } = watched()
    const line = newLine()
    await line.ask(fine)
    await lost(line.ask(cut))
    await lost(line.ask(silence))
    expect(told()).toEqual(['answered', 'cut', 'timeout', 'down'])
    await lost(line.ask(fine))
    pass(millis(500))
    await lost(line.ask(cut))
    expect(told()).toEqual(['spared', 'cut'])
    pass(millis(500))
    await line.ask(fine)
    expect(told()).toEqual(['answered', 'up'])
  })

  test('of several lines, that the store is down while one of them is', async () => {
    const { newLine, pass, told } = watched()
    const [one, other] = [newLine(), newLine()]
    await lost(one.ask(silence))
    await lost(other.ask(silence))
    expect(told()).toEqual(['timeout', 'down', 'timeout'])
    pass(millis(500))
    await one.ask(fine)
    expect(told()).toEqual(['answered'])
    await other.ask(fine)
    expect(told()).toEqual(['answered', 'up'])
  })

  test('but a line that nobody uses any more says nothing about now', async () => {
    const { newLine, pass, told } = watched()
    const [one, other] = [newLine(), newLine()]
    await lost(one.ask(silence))
    expect(told()).toEqual(['timeout', 'down'])
    pass(seconds(11))
    await other.ask(fine)
    expect(told()).toEqual(['answered', 'up'])
  })
})
