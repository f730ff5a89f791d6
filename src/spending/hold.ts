/** Holds: money kept aside under a durable id until it is captured, settled or released, or expires. */
import { createHash } from 'node:crypto'
import type { Write } from '../core/store.ts'
import type { Instant } from '../core/time.ts'
import type { SpendingWindow } from './calendar.ts'
import { type Context, forgetAt } from './context.ts'
import { mistake, quote } from './mistake.ts'
import { readMoney, writeMoney } from './money-json.ts'
import type { Party } from './party.ts'

export interface HoldRecord {
  readonly id: string
  readonly window: SpendingWindow
  readonly party: Party
  readonly expiresAt: Instant
  readonly amount: bigint
  /** What of it is still kept aside, unless it has expired. */
  readonly open: bigint
  /** The sum of all captures. */
  readonly captured: bigint
  /** The larger of the captures and the settlement: in whatever order they come. */
  readonly charged: bigint
  readonly status: 'open' | 'settled' | 'released'
  /** What a settlement named; `captured` where it named nothing. */
  readonly final?: bigint | 'captured' | undefined
}

/**
 * Carries window and plan, so that logs can be read without the store; `nonce` makes it unguessable.
 * The time comes before them: holds of one moment are neighbours on the disk.
 */
export const holdId = (
  { now, window }: { readonly now: Instant; readonly window: Instant },
  plan: string | undefined,
  nonce: string,
): string => {
  const tag = createHash('sha256')
    .update(plan ?? '')
    .digest('hex')
    .slice(0, 8)
  return `${window.toString(36)}.${now.toString(36)}.${tag}.${nonce}`
}

export const readHold = ({ view, keys }: Context, id: string): HoldRecord => {
  const [value] = HOLD_ID.test(id) ? view.read(keys.hold(id)) : []
  if (value !== undefined) return readMoney<HoldRecord>(value)
  const rule = 'must name a hold that was granted and is still remembered'
  throw mistake('HOLD_NOT_FOUND', `hold ${quote(id)}`, rule, 'none')
}

/** Remembered beyond its end, for settlements that come late and messages that come twice. */
export const writeHold = (context: Context, hold: HoldRecord): Write => ({
  key: context.keys.hold(hold.id),
  value: writeMoney(hold),
  expiresAt: forgetAt(context, hold.expiresAt),
})

export const closed = ({ id, status }: HoldRecord, verb: string) =>
  mistake('HOLD_CLOSED', `hold ${id}`, `must be open to ${verb}`, `a hold that was ${status}`)

const HOLD_ID = /^[\w.-]{1,128}$/
