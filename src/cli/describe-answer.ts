/** Answers in words for a terminal: short, and the same length of word in the same column. */
import { formatDuration, millis } from '../core/index.ts'
import type { AnswerBody, OutlookBody } from './api.ts'
import { table } from './terminal.ts'

export const describeAnswer = (verb: string, answer: AnswerBody): string => {
  const rows = answer.charges.map((charge) => [
    wordOf(verb, charge.allowed),
    charge.limit,
    charge.id,
    describeOutlook(charge),
  ])
  const replayed = answer.replayed === true ? ['as answered before: nothing was charged'] : []
  return [table(rows), ...replayed].join('\n')
}

export const describeOutlook = ({ allowed, remaining, reason, ...waits }: OutlookBody): string => {
  if (remaining === null) return reason === 'disabled' ? 'no limit in force' : (reason ?? '')
  if (reason === 'blocked') return 'a subject is blocked'
  const left = `${remaining} left`
  if (reason === 'full') return `${left}, nothing to give back`
  if (!allowed) return `${left}, ${retry(waits.retryAfterMs)}`
  const { resetAfterMs } = waits
  if (resetAfterMs === null || resetAfterMs === 0) return left
  return `${left}, full in ${formatDuration(millis(resetAfterMs))}`
}

function wordOf(verb: string, allowed: boolean): string {
  if (!allowed) return 'refused'
  switch (verb) {
    case 'refund':
      return 'refunded'
    case 'reset':
      return 'reset'
    default:
      return 'allowed'
  }
}

const retry = (wait: number | null): string =>
  wait === null ? 'waiting does not help' : `retry in ${formatDuration(millis(wait))}`
