/** How soon windows may be compacted: not while a hold of theirs could still settle. */
import { formatDuration } from '../core/duration.ts'
import { span } from '../core/time.ts'
import { REMEMBER_FOR } from './context.ts'
import { mistake } from './mistake.ts'
import type { SpendingSettings } from './plan.ts'

type Policy = Pick<SpendingSettings, 'compactAfter' | 'holdFor' | 'rememberFor'>

export const checkCompaction = (policy: Policy): void => {
  const { compactAfter, holdFor, rememberFor = REMEMBER_FOR } = policy
  const needed = span(holdFor + rememberFor)
  if (compactAfter === undefined || compactAfter >= needed) return
  const rule = `must be at least holdFor and rememberFor together, ${formatDuration(needed)}, or holds could not settle`
  throw mistake('COMPACTION_TOO_SOON', 'compactAfter', rule, formatDuration(compactAfter))
}
