import { expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { refuseExposedSingleKey } from './single-key.ts'

const single = { version: 2, kind: 'single', publicKey: '' } as const
const share = { version: 1, kind: 'share', publicKey: '', index: 0 } as const

test('a single key is refused where others reach it', () => {
  const use = { host: '0.0.0.0', allowSingleKey: false }
  expect(mistakeOf(() => refuseExposedSingleKey([share, single], use))).toMatchObject({
    code: 'SIGNER_SINGLE_KEY',
    finding: 'key version 2 is a single key',
  })
})

test('loopback, the flag, and shares are not', () => {
  refuseExposedSingleKey([single], { host: '::1', allowSingleKey: false })
  refuseExposedSingleKey([single], { host: '0.0.0.0', allowSingleKey: true })
  refuseExposedSingleKey([share], { host: '0.0.0.0', allowSingleKey: false })
})
