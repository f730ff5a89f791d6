import { expect, test } from 'vitest'
import { ruleOf, T0 } from '../../../test/support/odis-rules.ts'
import { instant } from '../../core/time.ts'
import { notBefore } from './cip40-examples.ts'

test('ODIS Not Before Domain: closed to the last second before its time, open to all from then on', async () => {
  const rule = await ruleOf(notBefore, 'not before', { notBefore: 1_700_000_000 })
  expect(rule.attempt(undefined, instant(T0 - 1))).toEqual({ allowed: false, retryIn: 1 })
  expect(rule.attempt(undefined, T0)).toEqual({ allowed: true })
  const far = await ruleOf(notBefore, 'not before', { notBefore: 2 ** 53 - 1 })
  expect(far.attempt(undefined, T0)).toMatchObject({ allowed: false })
})
