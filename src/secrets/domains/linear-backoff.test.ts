import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { burst, later, ruleOf, T0 } from '../../../test/support/odis-rules.ts'
import { defined, type Fields, none } from '../../../test/support/odis-samples.ts'
import { days } from '../../core/time.ts'
import { linearBackoff } from './cip40-examples.ts'

describe('ODIS Linear Backoff Domain', () => {
  const read = (fields: Fields) => ruleOf(linearBackoff, 'linear backoff', fields)

  test('saves up to the cap, and refreshes one attempt each interval', async () => {
    const rule = await read({ cap: 3, refresh: defined(1_000) })
    const first = burst(rule, undefined, T0)
    expect(first.count).toBe(3)
    expect(burst(rule, first.state, later(T0, 1_000_000)).count).toBe(1)
    expect(burst(rule, first.state, later(T0, days(9))).count).toBe(3)
  })

  test('without a refresh is a hard cap, and without a cap is closed', async () => {
    const hard = burst(await read({ cap: 3, refresh: none(0) }), undefined, T0)
    expect(hard.count).toBe(3)
    expect(
      burst(await read({ cap: 3, refresh: none(0) }), hard.state, later(T0, days(9))).count,
    ).toBe(0)
    expect(burst(await read({ cap: 0 }), undefined, T0).count).toBe(0)
  })

  test('refuses a refresh of no time, and one that no life is long enough for', () => {
    for (const fields of [
      { refresh: defined(0) },
      { cap: 2 ** 40, refresh: defined(86_400_000) },
    ]) {
      expect(mistakeOf(() => read(fields)).code).toBe('DOMAIN_INVALID')
    }
  })
})
