/** Which of two decisions binds: a refusal first, then the longer wait, then the fewer remaining. */
import type { Decision } from './limit.ts'
import type { Wait } from './time.ts'

/** Of two that bind alike, the later one. */
export const strictest = (a: Decision, b: Decision): Decision => {
  if (a.allowed !== b.allowed) return a.allowed ? b : a
  const waits = compareWaits(a.retryIn, b.retryIn)
  if (waits !== 0) return waits > 0 ? a : b
  return a.remaining < b.remaining ? a : b
}

function compareWaits(a: Wait, b: Wait): number {
  return asNumber(a) - asNumber(b) || 0
}

function asNumber(wait: Wait): number {
  return wait === 'never' ? Number.POSITIVE_INFINITY : wait
}
