/** What a leg does with calls that come late, from attempts and claims that were overtaken. */
import { expect, test } from 'vitest'
import type { Step } from '../../core/store.ts'
import { days, seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { parseCatalog } from '../yaml.ts'
import { chargeOn } from './charge.ts'
import { type Claimed, claimOperation, releaseClaim } from './claims.ts'
import { legsOf, spendLeg, undoLeg } from './legs.ts'
import { askOf, operationNames, reusedId } from './operations.ts'

const limits = '{ Hits: { id: opaque, burst: 5, count: 1, period: 1h } }'
const ask = { limit: 'Hits', id: 'ann' }
const charges = [chargeOn(ask, parseCatalog({ limits }).resolve(ask), 1, 'spend')]
const names = operationNames('spend', 'a', 'us', { rememberFor: days(1), perScope: 2 })

/** One leg, as its servers find it. */
const opened = () => {
  const clock = fakeClock()
  const store = memory({ clock })
  const [leg] = legsOf(charges, names.hash, () => true)
  if (leg === undefined) throw new Error('one charge is one leg')
  const terms = {
    digest: 'same',
    asks: charges.map(askOf),
    rememberFor: days(1),
    reused: () => reusedId('spend', 'a'),
  }
  const run = <R>(step: Step<R>) => store.transact(step)
  return {
    clock,
    claim: (nonce: string) => run((view) => claimOperation(view, names, { ...terms, nonce })),
    release: (claim: Claimed) => run((view) => releaseClaim(view, names, claim)),
    spend: (claim: Claimed) => run((view) => spendLeg(view, leg, claim)),
    undo: (claim: Claimed) => run((view) => undoLeg(view, leg, claim, true)),
  }
}

test('a call of a claim that was let go does nothing once the id is claimed anew', async () => {
  const { clock, claim, release, spend, undo } = opened()
  const first = await claim('one')
  await undo(first)
  await release(first)
  clock.advance(seconds(1))
  const second = await claim('two')
  expect(await spend(second)).toMatchObject({ state: 'charged' })
  expect(await spend(first)).toMatchObject({ state: 'overtaken' })
  expect(await spend(second)).toMatchObject({ state: 'replayed' })
  await undo(first)
  expect(await spend(second)).toMatchObject({ state: 'replayed' })
})

test('nor once the newer claim has given back too', async () => {
  const { clock, claim, release, spend, undo } = opened()
  const first = await claim('one')
  await undo(first)
  await release(first)
  clock.advance(seconds(1))
  const second = await claim('two')
  await spend(second)
  await undo(second)
  expect(await spend(first)).toMatchObject({ state: 'overtaken' })
})
