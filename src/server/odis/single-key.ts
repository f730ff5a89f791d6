/** A key in one hand hardens nothing against that hand: fit for development, on this machine alone. */
import { HeadgateError } from '../../core/index.ts'
import type { KeyNotice, SecretsErrorCode } from '../../secrets/index.ts'
import { isLoopback } from '../loopback.ts'

export interface KeyUse {
  readonly host: string
  readonly allowSingleKey: boolean
}

export const refuseExposedSingleKey = (notices: readonly KeyNotice[], use: KeyUse): void => {
  const single = notices.find(({ kind }) => kind === 'single')
  if (single === undefined || use.allowSingleKey || isLoopback(use.host)) return
  throw new HeadgateError<SecretsErrorCode>({
    code: 'SIGNER_SINGLE_KEY',
    thing: `host ${use.host}`,
    rule: 'must be a loopback address while a key is whole in one hand, or --allow-single-key given',
    finding: `key version ${single.version} is a single key`,
  })
}
