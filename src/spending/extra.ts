/** What a plan got in one window beyond its limit. Kept, so that later changes do not rewrite it. */
import type { Instant } from '../core/time.ts'
import type { Context } from './context.ts'
import { readMoney, writeMoney } from './money-json.ts'

export interface Extra {
  /** Left over from the window before. */
  readonly carried: bigint
  /** Taken from grants so far. */
  readonly drawn: bigint
}

export const NO_EXTRA: Extra = { carried: 0n, drawn: 0n }

export const readExtra = (
  { view, keys }: Context,
  window: Instant,
  plan: string,
): Extra | undefined => {
  const [value] = view.read(keys.extra(window, plan))
  return value === undefined ? undefined : readMoney<Extra>(value)
}

export const encodeExtra = (extra: Extra): string => writeMoney(extra)
