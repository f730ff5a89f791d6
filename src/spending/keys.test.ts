import { describe, expect, test } from 'vitest'
import { instant } from '../core/time.ts'
import { keysOf, OUTFLOW } from './keys.ts'

const [FIRST, SECOND] = [instant(1_000), instant(2_000)]

describe('the key of a balance', () => {
  test('is listed with those of its window, and the outflow with those of none', () => {
    const keys = keysOf('0.0.2')
    expect(keys.budget(FIRST, 'total')).toBe(`${keys.balances(FIRST)}#total`)
    expect(keys.terms(FIRST, 'alpha')).toBe(`${keys.balances(FIRST)}#terms/alpha`)
    expect(keys.budget(FIRST, OUTFLOW)).toBe(keys.budget(SECOND, OUTFLOW))
  })

  test('is that of the window asked for, in whatever order windows and budgets are named', () => {
    const keys = keysOf('0.0.2')
    for (let n = 0; n < 5_000; n++) {
      for (const window of [FIRST, FIRST, SECOND]) {
        const budget = `plan/${n % 4_500}`
        expect(keys.budget(window, budget)).toBe(`spending/{0.0.2}/window/${window}#${budget}`)
      }
    }
    for (let n = 0; n < 5_000; n++) expect(keys.budget(FIRST, `${n}`)).toMatch(`#${n}`)
  })
})

test('a payer with a name that no key could hold is refused', () => {
  expect(() => keysOf('a/b')).toThrow('must be 1 to 128 letters')
})
