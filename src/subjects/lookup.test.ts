import { expect, test } from 'vitest'
import { PROVIDER } from '../../test/support/subject-gate.ts'
import type { Store, View } from '../core/store.ts'
import { memory } from '../stores/memory/index.ts'
import { fakeClock } from '../testing/index.ts'
import { createSubjectLookup } from './lookup.ts'
import { rangeLengthsKey, subjectKey } from './rates/rate-records.ts'
import { createRates } from './rates/rates.ts'

const ADA = { issuer: 'did:key:zAda', chain: [] }

const lookup = async () => {
  const store = memory({ clock: fakeClock() })
  const rates = createRates({ store, provider: PROVIDER })
  for (let n = 0; n < 50; n++) await rates.add({ subject: `${n}.test`, rate: 0 }, ADA)
  await rates.add({ subject: 'a.test', rate: 3 }, ADA)
  const keys: string[] = []
  const counted: Store = {
    ...store,
    transact: (step, guess) =>
      store.transact((view) => {
        const read: View['read'] = (...asked) => {
          keys.push(...asked)
          return view.read(...asked)
        }
        return step({ ...view, read })
      }, guess),
    read: () => Promise.reject(new Error('no stream is read')),
    range: () => Promise.reject(new Error('no index is read')),
  }
  return { keys, gate: createSubjectLookup({ store: counted, provider: PROVIDER }) }
}

test('a lookup reads the rates of the subjects it is asked about and no others', async () => {
  const { gate, keys } = await lookup()
  expect(gate.judge(['x@7.test']).state).toBe('stale')
  await gate.ready(['x@7.test', 'x@a.test'])
  const forms = [
    ...['mail:x@7.test', 'mail:@7.test', 'name:7.test'],
    ...['name:*.test', 'mail:@test', 'text:test'],
    ...['mail:x@a.test', 'mail:@a.test', 'name:a.test'],
  ]
  expect(keys).toEqual([
    rangeLengthsKey(PROVIDER),
    ...forms.map((form) => subjectKey(PROVIDER, form)),
  ])
  expect(gate.judge(['x@7.test']).state).toBe('blocked')
  expect(gate.judge(['x@a.test']).state).toBe('clear')
  expect(gate.smallestRate(['x@a.test'])).toBe(3)
})
