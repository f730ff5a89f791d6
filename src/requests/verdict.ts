/** What each verb finds out over a view, and what it would change. Pure steps. */
import { type Charge, decideAll, type Instant, type Key, type View } from '../core/index.ts'
import { type Answer, toAnswer } from './answer.ts'
import type { ResolvedAsk } from './ask.ts'
import type { Charged, Finding } from './operations.ts'

/** Where a bucket's state is kept. */
export const storeKey = (bucketKey: string): Key => `requests/${bucketKey}`

/** Spends, checks and tries: charged all or nothing. */
export const judge = (asks: readonly ResolvedAsk[], view: View): Finding => {
  const charges = toCharges(asks)
  const verdict = charges.length === 0 ? undefined : decideAll(charges, view)
  const answer = toAnswer(asks, verdict)
  return { answer, writes: verdict?.writes ?? [], charged: () => chargedBy(asks, answer) }
}

/** Gives back, dated where it is known when the charge was made. Allowed if anything was. */
export const refund = (asks: readonly ResolvedAsk[], view: View, at?: Instant): Finding => {
  const charges = toCharges(asks).map((charge) => ({
    ...charge,
    mode: 'refund' as const,
    ...(at === undefined ? {} : { chargedAt: at }),
  }))
  const verdict = charges.length === 0 ? undefined : decideAll(charges, view)
  const answer = toAnswer(asks, verdict)
  const restored = verdict === undefined || verdict.decisions.some((decision) => decision.allowed)
  return {
    answer: restored ? answer : { ...answer, allowed: false, reason: 'full' },
    writes: verdict?.writes ?? [],
    charged: () => [],
  }
}

/** Forgets what was charged: every bucket is full afterwards. */
export const clear = (asks: readonly ResolvedAsk[], view: View): Finding => {
  const forgotten: View = { now: view.now, read: (...keys) => keys.map(() => undefined) }
  const looks = asks.map((ask) => ({ ...ask, cost: 0, mode: 'check' as const }))
  const { answer } = judge(looks, forgotten)
  const writes = asks.map(({ bucket }) => ({ key: storeKey(bucket.key) }))
  return { answer, writes, charged: () => [] }
}

/** Where no limit is in force there is nothing to charge. */
function toCharges(asks: readonly ResolvedAsk[]): Charge[] {
  const charges: Charge[] = []
  for (const { bucket, cost, mode } of asks) {
    const { key, limit } = bucket
    if (limit !== undefined) charges.push({ key: storeKey(key), limit, cost, mode })
  }
  return charges
}

/** A `try` that did not fit and a `check` charged nothing. */
function chargedBy(asks: readonly ResolvedAsk[], answer: Answer): readonly Charged[] {
  return asks.flatMap(({ asked, bucket, cost, mode }, i) =>
    mode !== 'check' && bucket.limit !== undefined && answer.charges[i]?.allowed === true
      ? [{ asked, bucket: bucket.key, cost }]
      : [],
  )
}
