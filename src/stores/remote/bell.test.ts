import { expect, test } from 'vitest'
import { settled } from '../../../test/support/hand-timers.ts'
import { createBell, type Wire } from './bell.ts'
import type { StoreEvent } from './line.ts'

/** A wire in the hands of a test: what was rung, and what it lets servers hear. */
const setting = () => {
  const rung: string[] = []
  const told: StoreEvent[] = []
  let ears = 0
  let heard: Parameters<Wire['hear']>[0] = () => {}
  let listening: Parameters<Wire['hear']>[1] = () => {}
  let ring: Wire['ring'] = async (stream) => rung.push(stream)
  const wire: Wire = {
    ring: (stream) => ring(stream),
    hear: (...ear) => {
      ears += 1
      heard = ear[0]
      listening = ear[1]
      return () => {
        ears -= 1
      }
    },
  }
  return {
    bell: createBell(wire, (event) => told.push(event)),
    rung,
    told,
    ears: () => ears,
    hear: (stream: string) => heard(stream),
    listens: (on: boolean) => listening(on),
    fail: () => {
      ring = () => Promise.reject(new Error('cut'))
    },
    hang: () => {
      let letGo = () => {}
      const pending = new Promise<void>((resolve) => {
        letGo = resolve
      })
      ring = () => pending
      return letGo
    },
  }
}

const append = (stream: string) => ({ stream, entry: 'x' })
const followed = (stream: string) => ({ ...append(stream), followed: true }) as const

test('rings once for each followed stream, and for no other', () => {
  const { bell, rung } = setting()
  bell.rang([append('ledger'), followed('rates'), followed('rates'), followed('more')])
  expect(rung).toEqual(['rates', 'more'])
})

test('wakes those who listen to the stream that rang', () => {
  const { bell, hear } = setting()
  const woken: string[] = []
  bell.listen('rates', () => woken.push('one'))
  bell.listen('rates', () => woken.push('two'))
  bell.listen('more', () => woken.push('three'))
  hear('rates')
  hear('ledger')
  expect(woken).toEqual(['one', 'two'])
})

test('wakes all when it begins to hear, as rings may have been lost before; and says so', () => {
  const { bell, listens, told } = setting()
  let woken = 0
  bell.listen('rates', () => {
    woken += 1
  })
  listens(true)
  listens(false)
  listens(true)
  expect(woken).toBe(2)
  expect(told.map((event) => 'on' in event && event.on)).toEqual([true, false, true])
})

test('keeps one ear open while somebody listens, and none before and after', () => {
  const { bell, ears } = setting()
  expect(ears()).toBe(0)
  const ends = [bell.listen('rates', () => {}), bell.listen('more', () => {})]
  expect(ears()).toBe(1)
  for (const end of ends) end()
  expect(ears()).toBe(0)
})

test('a ring that fails concerns nobody', async () => {
  const { bell, fail } = setting()
  fail()
  bell.rang([followed('rates')])
  await bell.close()
})

test('closes once its rings are out', async () => {
  const { bell, hang } = setting()
  const letGo = hang()
  bell.rang([followed('rates')])
  let isClosed = false
  const closing = bell.close().then(() => {
    isClosed = true
  })
  await settled()
  expect(isClosed).toBe(false)
  letGo()
  await closing
})
