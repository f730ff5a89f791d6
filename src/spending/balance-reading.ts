/** What an account holds, as a mirror node reports it: `/api/v1/accounts/{id}` or `/api/v1/balances`. */
import { type Instant, instant } from '../core/time.ts'
import type { Field } from '../documents/index.ts'
import { readList } from '../documents/index.ts'
import { mirrorField, mirrorNumber, mirrorText, refuseMirror } from './mirror-answer.ts'

export interface AccountBalance {
  readonly account: string
  /** In tinybars. */
  readonly amount: bigint
  /** When the network had this balance, which is earlier than when it was asked. */
  readonly at: Instant
}

/** `/api/v1/accounts/{id}`: `{account, balance: {balance, timestamp}}`. */
export const readAccount = (answer: Field, account: string): AccountBalance => {
  refuseOther(mirrorField(answer, 'account'), account)
  const balance = mirrorField(answer, 'balance')
  return { account, amount: amountOf(balance), at: momentOf(mirrorField(balance, 'timestamp')) }
}

/** `/api/v1/balances?account.id={id}`: `{timestamp, balances: [{account, balance}]}`. */
export const readBalances = (answer: Field, account: string): AccountBalance => {
  const at = momentOf(mirrorField(answer, 'timestamp'))
  const list = mirrorField(answer, 'balances')
  if (list.node.kind !== 'list') return refuseMirror(list, 'must be a list')
  const [only, ...others] = readList(list)
  if (only === undefined || others.length > 0) {
    return refuseMirror(list, 'must hold the one account asked for', `${list.node.items.length}`)
  }
  refuseOther(mirrorField(only, 'account'), account)
  return { account, amount: amountOf(only), at }
}

const amountOf = (holder: Field): bigint => mirrorNumber(mirrorField(holder, 'balance'))

function refuseOther(field: Field, account: string): void {
  if (mirrorText(field) !== account) refuseMirror(field, `must be ${account}`)
}

/** Seconds and nanoseconds, `1586567700.453054000`; cut to microseconds. */
function momentOf(field: Field): Instant {
  const [, seconds = '', nanos = ''] = /^(\d{1,10})\.(\d{9})$/.exec(mirrorText(field)) ?? []
  if (seconds === '') return refuseMirror(field, 'must be seconds with nine decimal places')
  return instant(Number(seconds) * 1_000_000 + Math.floor(Number(nanos) / 1_000))
}
