import { expect, test } from 'vitest'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { checkSignerStore } from './signer-store.ts'

test('a store that forgets at a restart is refused, but for tests', () => {
  expect(mistakeOf(() => checkSignerStore('memory:'))).toMatchObject({
    code: 'SIGNER_STORE_VOLATILE',
    finding: 'memory:',
  })
  checkSignerStore('memory:', { forTests: true })
  checkSignerStore('sqlite:signer.db')
})
