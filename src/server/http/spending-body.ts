/** Answers of spending, written for the wire: amounts as text, moments in ISO 8601. */
import { type Instant, toSeconds } from '../../core/index.ts'
import type { BookingAnswer, SpendingAnswer, Standing, Standings } from '../../spending/index.ts'
import { toTimestamp } from '../../spending/timestamp.ts'
import { toWholeMillis } from './answer-body.ts'
import type { HeaderBag } from './rate-headers.ts'
import type { AdmissionBody, BookingBody, StandingBody, StandingsBody } from './spending-schema.ts'

export const toAdmissionBody = (answer: SpendingAnswer): AdmissionBody => ({
  allowed: answer.allowed,
  reason: answer.reason,
  node: answer.node,
  retryAfterMs: toWholeMillis(answer.retryIn),
  ...(answer.duplicate === true && { duplicate: true }),
  ...(answer.holdId !== undefined && { holdId: answer.holdId }),
  ...(answer.expiresAt !== undefined && { expiresAt: toMoment(answer.expiresAt) }),
  ...toStandingsBody(answer),
})

/** What was spent is never refused, so a booking says what an allowed question would. */
export const toBookingBody = (answer: BookingAnswer): BookingBody => ({
  allowed: true,
  reason: null,
  node: null,
  retryAfterMs: 0,
  ...(answer.duplicate === true && { duplicate: true }),
  charged: answer.charged.toString(),
  overage: answer.overage.toString(),
  released: answer.released.toString(),
  late: answer.late,
  ...toStandingsBody(answer),
})

export const setRetryAfter = (reply: HeaderBag, { allowed, retryIn }: SpendingAnswer): void => {
  if (!allowed && retryIn !== 'never') reply.header('Retry-After', String(toSeconds(retryIn)))
}

export const toStandingBody = ({ limit, spent, held, remaining }: Standing): StandingBody => ({
  limit: limit.toString(),
  spent: spent.toString(),
  held: held.toString(),
  remaining: remaining.toString(),
})

export const toMoment = (at: Instant): string => toTimestamp(at)

function toStandingsBody({ plan, total, window }: Standings): StandingsBody {
  return {
    plan: plan && { id: plan.id, tier: plan.tier, ...toStandingBody(plan) },
    total: total && toStandingBody(total),
    window: window && { startsAt: toMoment(window.startsAt), endsAt: toMoment(window.endsAt) },
  }
}
