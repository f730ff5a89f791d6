/** What each verb finds out over a view, and what it would change. Pure steps. */
import { type Charge, decideAll, type Key, type View } from '../core/index.ts'
import { type Answer, toAnswer } from './answer.ts'
import type { ResolvedAsk } from './ask.ts'
import type { Charged, Finding } from './operations.ts'

/** Where a bucket's state is kept. */
export const storeKey = (bucketKey: string): Key => `requests/${bucketKey}`

/** Spends, checks and tries: charged all or nothing. */
export const judge = (asks: readonly ResolvedAsk[], view: View): Finding => {
  const charges = asks.flatMap((ask) => toCharge(ask))
  const verdict = charges.length === 0 ? undefined : decideAll(charges, view)
  const answer = toAnswer(asks, verdict)
  return {
    answer,
    writes: verdict?.writes ?? [],
    charged: answer.allowed ? chargedBy(asks, answer) : [],
  }
}

/** Gives back, dated where it is known when the charge was made. Allowed if anything was. */
export const refund = (asks: readonly ResolvedAsk[], view: View, at?: View['now']): Finding => {
  const charges = asks.flatMap((ask) => toCharge({ ...ask, mode: 'refund' }, at))
  const verdict = charges.length === 0 ? undefined : decideAll(charges, view)
  const answer = toAnswer(asks, verdict)
  const restored = verdict === undefined || verdict.decisions.some((decision) => decision.allowed)
  const { writes = [] } = verdict ?? {}
  return restored
    ? { answer, writes, charged: [] }
    : { answer: { ...answer, allowed: false, reason: 'full' }, writes, charged: [] }
}

/** Forgets what was charged: every bucket is full afterwards. */
export const clear = (asks: readonly ResolvedAsk[], view: View): Finding => {
  const forgotten: View = { now: view.now, read: (...keys) => keys.map(() => undefined) }
  const { answer } = judge(
    asks.map((ask) => ({ ...ask, cost: 0, mode: 'check' })),
    forgotten,
  )
  const writes = asks.map(({ bucket }) => ({ key: storeKey(bucket.key) }))
  return { answer, writes, charged: [] }
}

function toCharge({ bucket, cost, mode }: ResolvedAsk, at?: View['now']): readonly Charge[] {
  if (bucket.limit === undefined) return []
  const charge = { key: storeKey(bucket.key), limit: bucket.limit, cost, mode }
  return [at === undefined ? charge : { ...charge, chargedAt: at }]
}

/** A `try` that did not fit and a `check` charged nothing. */
function chargedBy(asks: readonly ResolvedAsk[], answer: Answer): readonly Charged[] {
  return asks.flatMap(({ asked, bucket, cost, mode }, i) =>
    mode !== 'check' && bucket.limit !== undefined && answer.charges[i]?.allowed === true
      ? [{ asked, bucket: bucket.key, cost }]
      : [],
  )
}
