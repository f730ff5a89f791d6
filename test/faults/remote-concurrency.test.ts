/** Many processes on one server: never one too many, and nobody comes away with nothing. */
import { describe, expect, test } from 'vitest'
import type { ServiceKind } from '../../scripts/services.js'
import { answer } from '../../src/core/store.ts'
import { startChild } from '../support/child.ts'
import { times } from '../support/counts.ts'
import { remotePlace } from '../support/remote-stores.ts'

const KINDS: readonly ServiceKind[] = ['redis', 'cluster', 'postgres']

for (const kind of KINDS) {
  const place = await remotePlace(kind)
  describe.skipIf(place === undefined)(kind, () => {
    if (place === undefined) return

    /** What each of some processes prints once all of them are ready. */
    const among = async (processes: number, script: string, args: readonly string[]) => {
      await place.clear()
      const children = Array.from({ length: processes }, () =>
        startChild(`test/faults/children/${script}.js`, [place.url, ...args, place.name]),
      )
      for (const child of children) expect(await child.line()).toBe('ready')
      const told = await Promise.all(children.map((child) => child.line()))
      for (const child of children) expect(await child.ended).toBe(0)
      return told
    }
    const sum = (told: readonly string[]) => told.reduce((all, line) => all + Number(line), 0)

    test('400 spends from four processes on one bucket of burst 20: exactly 20 are admitted', async () => {
      for (let round = 0; round < times(1, 25); round++) {
        expect(sum(await among(4, 'spender', ['100']))).toBe(20)
      }
    })

    test('64 clients in four processes, each holding 300 of a plan of 300: one is granted', async () => {
      for (let round = 0; round < times(1, 25); round++) {
        expect(sum(await among(4, 'spending-holder', ['16', '1000000', 'one']))).toBe(1)
      }
    })

    test('eight processes on one count: the sum is exact, and each gets all of its turns', async () => {
      const [turns, lanes] = [times(20, 500), 4]
      // A call that starved would have run out of patience, and failed its process.
      for (const line of await among(8, 'counter', [String(turns), String(lanes)])) {
        const { calls, conflicts } = JSON.parse(line)
        expect(calls - conflicts).toBe(turns * lanes)
      }
      const store = place.open()
      const key = 'test/{hot}/count'
      const count = await store.transact((view) => answer(view.read(key)), [key], 'look')
      expect(count).toEqual([String(8 * turns * lanes)])
      await store.close()
    })
  })
}
