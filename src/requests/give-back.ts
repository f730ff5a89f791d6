/** Giving back what an operation charged: dated, so that time is not given back twice. */
import { HeadgateError, type View } from '../core/index.ts'
import { type Ask, type Batch, type BucketOf, type ResolvedAsk, resolveAsks } from './ask.ts'
import { type Finding, type Memory, type OperationErrorCode, peek } from './operations.ts'
import { refund } from './verdict.ts'

export interface GiveBack extends Batch {
  readonly operationId: string
}

/** All that the spend charged, or those of its charges that are named. Once per operation. */
export const giveBack = (
  bucketOf: BucketOf,
  view: View,
  { operationId, charges }: GiveBack,
  scope: string,
): Finding => {
  const memory = peek(view, { scope, verb: 'spend', id: operationId })
  if (memory === undefined) {
    throw new HeadgateError<OperationErrorCode>({
      code: 'OPERATION_UNKNOWN',
      thing: `operationId ${operationId}`,
      rule: 'must name a spend that was allowed and is still remembered; a refund without it is undated',
    })
  }
  return refund(
    charges === undefined ? all(bucketOf, memory) : named(bucketOf, memory, charges),
    view,
    memory.at,
  )
}

/** At today's limits: a charge under a limit that has changed since is not given back. */
function all(bucketOf: BucketOf, { charged }: Memory): readonly ResolvedAsk[] {
  return charged.map(({ asked, cost }) => ({
    asked,
    bucket: bucketOf(asked),
    cost,
    mode: 'refund',
  }))
}

function named(bucketOf: BucketOf, { charged }: Memory, charges: readonly Ask[]) {
  const asks = resolveAsks(bucketOf, { charges }, ['spend'])
  for (const { bucket, cost } of asks) {
    const held = charged.find((charge) => charge.bucket === bucket.key)?.cost ?? 0
    if (cost <= held) continue
    throw new HeadgateError<OperationErrorCode>({
      code: 'OPERATION_CHARGES',
      thing: `cost for ${bucket.definition.name} ${bucket.id}`,
      rule: `must be at most the ${held} that the operation charged`,
      finding: String(cost),
    })
  }
  return asks
}
