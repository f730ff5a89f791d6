/** A sample of what the pillars do, on real servers: as in memory and on SQLite, to the letter. */
import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ServiceKind } from '../../scripts/services.js'
import type { Store } from '../../src/core/store.ts'
import { seconds } from '../../src/core/time.ts'
import { limiter } from '../../src/requests/limiter/typed-limiter.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { createRates } from '../../src/subjects/rates/rates.ts'
import { type FakeClock, fakeClock } from '../../src/testing/index.ts'
import { times } from '../support/counts.ts'
import { type Random, seeded } from '../support/random.ts'
import { remotePlace } from '../support/remote-stores.ts'
import { scratchFile } from '../support/scratch-file.ts'
import { serve } from '../support/serve.ts'
import { happenings, openBooks } from '../support/spending-books.ts'
import { openPlayer, type Scenario } from '../support/spending-scenario.ts'
import { vectors } from '../support/vectors.ts'

const LIMITS = {
  Hits: { burst: 5, count: 1, period: '10s' },
  Days: { burst: 12, period: '1h' },
} as const

/** The same random questions at the same times, whoever keeps the state. */
async function history(
  store: Store,
  clock: FakeClock,
  random: Random,
): Promise<readonly unknown[]> {
  const gate = limiter({ store, limits: LIMITS })
  const answers: unknown[] = []
  for (let i = 0; i < 60; i++) {
    const id = `id${random.below(3)}`
    const cost = 1 + random.below(3)
    const charges = [
      { limit: 'Hits' as const, id, cost },
      { limit: 'Days' as const, id },
    ]
    const operationId = `${random.below(10)}-${id}-${cost}`
    const verbs = [
      () => gate.spend('Hits', id, { cost }),
      () => gate.check('Hits', id, { cost }),
      () => gate.spend({ charges, operationId }),
      () => gate.refund('Hits', id, { cost }),
      () => gate.reset('Hits', id),
    ]
    answers.push(await verbs[random.below(verbs.length)]?.())
    if (random.below(3) === 0) clock.advance(seconds(random.below(8)))
  }
  return answers
}

for (const kind of ['redis', 'cluster', 'postgres'] as const satisfies readonly ServiceKind[]) {
  const place = await remotePlace(kind)
  describe.skipIf(place === undefined)(kind, () => {
    if (place === undefined) return
    const open = async (clock: FakeClock) => {
      await place.clear()
      const store = place.open({ clock, uptime: clock.uptime })
      onTestFinished(() => store.close())
      return store
    }

    test('limits answer every history as they do in memory', async () => {
      for (let seed = 0; seed < times(3, 200); seed++) {
        const [here, there] = [fakeClock(), fakeClock()]
        const expected = await history(memory({ clock: here }), here, seeded(seed))
        expect(await history(await open(there), there, seeded(seed)), `seed ${seed}`).toEqual(
          expected,
        )
      }
    })

    test('rates are kept, listed, changed and forgotten', async () => {
      const clock = fakeClock()
      const rates = createRates({ store: await open(clock), provider: 'did:web:example.com' })
      const ada = { issuer: 'did:key:zAda', chain: ['bafyproof'] }
      for (const rate of [0, 2]) await rates.add({ subject: 'a.test', rate, reason: 'spam' }, ada)
      const listed = await rates.list('A.test')
      expect(listed.map(({ rate }) => rate)).toEqual([0, 2])
      await rates.remove(
        listed.map(({ id }) => id),
        ada,
      )
      expect(await rates.list('a.test')).toEqual([])
    })

    describe('spending', () => {
      const { scenarios } = vectors<{ scenarios: readonly Scenario[] }>(
        'spending/11-reservations.json',
      )
      for (const scenario of scenarios.slice(0, times(8, scenarios.length))) {
        test(`${scenario.id}: ${scenario.title}`, async () => {
          await place.clear()
          const player = openPlayer(scenario, scratchFile(), (clock) => place.open({ clock }))
          for (const step of scenario.steps) {
            const found = await player.play(step)
            if (step.expect !== undefined) expect(found).toMatchObject(step.expect)
          }
          await player.close()
        })
      }
    })

    test('books and lists add up after any history of holds, grants, voids and plans', async () => {
      for (const events of fc.sample(happenings, { numRuns: times(4, 50), seed: 7 })) {
        await place.clear()
        const books = openBooks((clock) => {
          const store = place.open({ clock, uptime: clock.uptime })
          onTestFinished(() => store.close())
          return store
        })
        for (const each of events) await books.happen(each)
        const { found, due } = await books.lists()
        expect(found).toEqual(due)
        expect(await books.spending.verify()).toMatchObject({ findings: [] })
      }
    })

    test('two servers on one store admit exactly the burst between them, over HTTP', async () => {
      const limit = `Shared${process.pid}`
      const config = scratchFile('headgate.yml')
      writeFileSync(
        config,
        `limits: { ${limit}: { id: opaque, burst: 20, count: 1, period: 24h } }`,
      )
      const servers = await Promise.all(
        [1, 2].map(() => serve(['--config', config, '--store', place.url])),
      )
      const asked = Array.from({ length: 60 }, async (_, i) => {
        const answer = await servers[i % 2]?.post('/v1/spend', { limit, id: `${kind} one` })
        return (await answer?.text())?.includes('"allowed":true')
      })
      expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(20)
    })
  })
}
