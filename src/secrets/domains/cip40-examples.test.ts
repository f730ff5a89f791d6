import { expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { ruleOf, T0 } from '../../../test/support/odis-rules.ts'
import { none } from '../../../test/support/odis-samples.ts'
import { peppered } from './cip40-examples.ts'

test('ODIS Peppered Domain: without a cap there is no end of attempts, and the address must be one', async () => {
  const rule = await ruleOf(peppered, 'peppered', { cap: none(0) })
  expect(rule.attempt(`${2 ** 50} 0 0`, T0).allowed).toBe(true)
  expect(mistakeOf(() => ruleOf(peppered, 'peppered', { address: 'me' })).code).toBe(
    'DOMAIN_INVALID',
  )
})
