/** How many at once, across processes: never one too many, and no place is lost with its holder. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { instant, minutes } from '../../src/core/time.ts'
import { limiter } from '../../src/requests/limiter/typed-limiter.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { startChild } from '../support/child.ts'
import { times } from '../support/counts.ts'
import { temporaryFolder } from '../support/folder.ts'

const HOLDER = 'test/faults/children/holder.js'
const database = () => join(temporaryFolder(), 'headgate.db')

const stores = {
  memory: () => memory(),
  sqlite: () => sqlite(database()),
}

describe('400 acquires at once on 20 places', () => {
  for (const [name, open] of Object.entries(stores)) {
    test(`${name}: exactly 20 get one`, async () => {
      const store = open()
      const gate = limiter({ store, limits: { Jobs: { atOnce: 20, heldFor: '1h' } } })
      const answers = await Promise.all(
        Array.from({ length: 400 }, () => gate.acquire('Jobs', 'x')),
      )
      expect(answers.filter(({ allowed }) => allowed)).toHaveLength(20)
      await store.close()
    })
  }

  test('four processes on one SQLite file: exactly 20 of those who stay get one', async () => {
    for (let round = 0; round < times(1, 25); round++) {
      const path = database()
      const children = [1, 2, 3, 4].map(() => startChild(HOLDER, [path, '100', '1h', 'stay']))
      for (const child of children) expect(await child.line()).toBe('ready')
      const told = await Promise.all(children.map(async (child) => JSON.parse(await child.line())))
      expect(told.reduce((sum, { entered }) => sum + entered, 0)).toBe(20)
      expect(Math.max(...told.map(({ most }) => most))).toBe(20)
      await Promise.all(children.map((child) => child.kill('SIGKILL')))
    }
  })

  test('four processes on one SQLite file: never more than 20 are inside while they come and go', async () => {
    for (let round = 0; round < times(1, 25); round++) {
      const path = database()
      const children = [1, 2, 3, 4].map(() => startChild(HOLDER, [path, '100', '1h', 'leave']))
      for (const child of children) expect(await child.line()).toBe('ready')
      const told = await Promise.all(children.map(async (child) => JSON.parse(await child.line())))
      for (const { most } of told) expect(most).toBeLessThanOrEqual(20)
      expect(told.reduce((sum, { entered }) => sum + entered, 0)).toBeGreaterThanOrEqual(20)
      expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0, 0, 0])
      const store = sqlite(path)
      const gate = limiter({ store, limits: { Jobs: { atOnce: 20, heldFor: '1h' } } })
      expect(await gate.placesLeft('Jobs', 'x')).toMatchObject({ allowed: true, remaining: 20 })
      await store.close()
    }
  })
})

test('the places of a holder that was killed come back after heldFor, and no sooner', async () => {
  for (let round = 0; round < times(1, 25); round++) {
    const path = database()
    const child = startChild(HOLDER, [path, '20', '10m', 'stay'])
    expect(await child.line()).toBe('ready')
    expect(JSON.parse(await child.line())).toMatchObject({ entered: 20 })
    await child.kill('SIGKILL')
    const looks = async (late: number) => {
      const clock = () => instant(Date.now() * 1_000 + late)
      const store = sqlite({ path, clock })
      const gate = limiter({ store, limits: { Jobs: { atOnce: 20, heldFor: '10m' } } })
      const answer = await gate.placesLeft('Jobs', 'x')
      await store.close()
      return answer
    }
    // The child's places began within the time that this test has run so far.
    expect(await looks(0)).toMatchObject({ allowed: false, remaining: 0 })
    expect(await looks(minutes(5))).toMatchObject({ allowed: false, remaining: 0 })
    expect(await looks(minutes(10))).toMatchObject({ allowed: true, remaining: 20 })
  }
})
