/** Grants: money given to one plan beyond its allowance, used only after it, and gone when it expires. */
import type { Instant } from '../core/time.ts'
import type { Context } from './context.ts'
import type { Draw } from './entry.ts'
import { least } from './least.ts'
import { readMoney, writeMoney } from './money-json.ts'

export interface Grant {
  readonly id: string
  readonly amount: bigint
  readonly left: bigint
  /** Lower is used first; of equals the one that expires first, then the older. */
  readonly priority: number
  readonly expiresAt?: Instant | undefined
}

/** All of a plan's grants are read on each of its admissions. */
export const MAX_GRANTS = 64

/** Those that can still be used, in the order of use. */
export const readGrants = ({ view, keys }: Context, plan: string): readonly Grant[] => {
  const [value] = view.read(keys.grants(plan))
  return value === undefined ? [] : usable(readMoney<readonly Grant[]>(value), view.now)
}

export const encodeGrants = (grants: readonly Grant[]): string => writeMoney(grants)

export const usable = (grants: readonly Grant[], now: Instant): readonly Grant[] =>
  grants
    .filter(({ left, expiresAt }) => left > 0n && (expiresAt === undefined || expiresAt > now))
    .toSorted(
      (a, b) => a.priority - b.priority || (a.expiresAt ?? NEVER) - (b.expiresAt ?? NEVER) || 0,
    )

export const leftIn = (grants: readonly Grant[]): bigint =>
  grants.reduce((sum, { left }) => sum + left, 0n)

/** Takes what is needed, or all there is. */
export const draw = (
  grants: readonly Grant[],
  needed: bigint,
): { readonly grants: readonly Grant[]; readonly draws: readonly Draw[] } => {
  let missing = needed
  const draws: Draw[] = []
  const kept = grants.map((grant) => {
    const amount = least(grant.left, missing)
    if (amount <= 0n) return grant
    missing -= amount
    draws.push({ grant: grant.id, amount })
    return { ...grant, left: grant.left - amount }
  })
  return { grants: kept, draws }
}

const NEVER = Number.MAX_SAFE_INTEGER
