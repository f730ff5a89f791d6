/** What a well-formed request claims: who asks, in which turn, and by which rule it is to be judged. */
import type { Rule } from './rule.ts'

export type Endpoint = 'sign' | 'quotaStatus' | 'disable'

/** `cip40`: as the document says. `celo`: as the deployed service answers and its clients expect. */
export type Conduct = 'cip40' | 'celo'

export interface Claim {
  /** Undefined if the request may be judged; else what is wrong with its authorisation. */
  authenticate(hash: Uint8Array, where: Where): Promise<string | undefined>
  readonly turn: Turn
  /** Whose quota it is, where one domain has many; else the domain's own. */
  readonly account?: string
  /** Asked once the request is authenticated; never for what is refused before. */
  rule(): Promise<Rule>
}

export interface Where {
  readonly endpoint: Endpoint
  readonly conduct: Conduct
}

/**
 * - `none`: the domain has no nonce.
 * - `counted`: the nonce must not be below the counter, and the counter goes up by one (deployed).
 * - `index`: the nonce is the attempt's index, and the counter becomes nonce + 1.
 */
export type Turn =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'counted' | 'index'
      readonly nonce: number | undefined
      readonly required: boolean
    }

export const NO_TURN: Turn = { kind: 'none' }

/** A domain that asks nobody who they are. */
export const openToAll = async (): Promise<undefined> => undefined
