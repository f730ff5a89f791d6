/** What spending answers, written for the wire: amounts as text, moments in ISO 8601. */
import { HeadgateError, quote } from '../../core/errors.ts'
import { type Instant, toSeconds, waitMillis } from '../../core/time.ts'
import { parseTimestamp, TIMESTAMP_RULE, toTimestamp } from '../../lib/moments.ts'
import type {
  GrantStanding,
  LedgerEntry,
  OpenHold,
  Plan,
  PlanDetails,
  PlanEntry,
  Reversal,
  SpendingAnswer,
  SpendingCharge,
  SpendingReport,
  SpendingSettings,
  Standing,
  Standings,
  Unit,
  Verification,
} from '../../spending/index.ts'
import { writeMoney } from '../../spending/money-json.ts'
import type { ReplyHead } from '../app/endpoints.ts'
import type { HttpErrorCode } from '../app/problems.ts'
import type {
  AdmissionBody,
  BookingBody,
  LedgerEntryBody,
  ReversalBody,
  StandingBody,
  StandingsBody,
} from './schema.ts'

export const toAdmissionBody = (answer: SpendingAnswer): AdmissionBody => ({
  allowed: answer.allowed,
  reason: answer.reason,
  budget: answer.budget,
  retryAfterMs: waitMillis(answer.retryIn),
  ...(answer.replayed === true && { replayed: true }),
  ...(answer.holdId !== undefined && { holdId: answer.holdId }),
  ...(answer.expiresAt !== undefined && { expiresAt: toTimestamp(answer.expiresAt) }),
  ...toStandingsBody(answer),
})

/** What was spent is never refused, so a booking says what an allowed question would. */
export const toBookingBody = (answer: SpendingCharge): BookingBody => ({
  allowed: true,
  reason: null,
  budget: null,
  retryAfterMs: 0,
  ...(answer.replayed === true && { replayed: true }),
  charged: answer.charged.toString(),
  overage: answer.overage.toString(),
  released: answer.released.toString(),
  late: answer.late,
  ...toStandingsBody(answer),
})

export const toReversalBody = (answer: Reversal): ReversalBody => ({
  reversed: answer.reversed.toString(),
  left: answer.left.toString(),
  ...(answer.replayed === true && { replayed: true }),
  ...toStandingsBody(answer),
})

export const setRetryAfter = (reply: ReplyHead, { allowed, retryIn }: SpendingAnswer): void => {
  if (!allowed && retryIn !== 'never') reply.header('Retry-After', String(toSeconds(retryIn)))
}

export const toStandingBody = ({ limit, spent, held, remaining }: Standing): StandingBody => ({
  limit: limit.toString(),
  spent: spent.toString(),
  held: held.toString(),
  remaining: remaining.toString(),
})

function toStandingsBody({ plan, total, window }: Standings): StandingsBody {
  return {
    plan: plan && { id: plan.id, tier: plan.tier, ...toStandingBody(plan) },
    total: total && toStandingBody(total),
    window: window && toWindowBody(window),
  }
}

export const toPlanBody = (
  { id, tier, name, limit, active, createdAt, retiredAt, source }: Plan,
  { tiers }: SpendingSettings,
) => ({
  id,
  tier,
  ...(name !== undefined && { name }),
  limit: (limit ?? tiers[tier]).toString(),
  active,
  ...(createdAt !== undefined && { createdAt: toTimestamp(createdAt) }),
  ...(retiredAt !== undefined && { retiredAt: toTimestamp(retiredAt) }),
  source,
})

export const toGrantBody = (grant: GrantStanding) => {
  const { id, amount, spent, pinned, left, priority, expiresAt, reason, actor } = grant
  return {
    id,
    amount: amount.toString(),
    spent: spent.toString(),
    pinned: pinned.toString(),
    left: left.toString(),
    priority,
    ...(expiresAt !== undefined && { expiresAt: toTimestamp(expiresAt) }),
    ...(reason !== undefined && { reason }),
    ...(actor !== undefined && { actor }),
  }
}

export const toOpenHoldBody = (hold: OpenHold) => {
  const { plan, tier, member, ip, operation, mode } = hold.party
  return {
    holdId: hold.holdId,
    ...(plan !== undefined && { plan }),
    ...(tier !== undefined && { tier }),
    ...(member !== undefined && { member }),
    ...(ip !== undefined && { ip }),
    operation,
    mode,
    amount: hold.amount.toString(),
    open: hold.open.toString(),
    captured: hold.captured.toString(),
    madeAt: toTimestamp(hold.madeAt),
    expiresAt: toTimestamp(hold.expiresAt),
    window: toTimestamp(hold.window),
  }
}

/** Who a plan is for: in the file, and linked while Headgate ran. */
export const toCallers = (entry: PlanEntry | undefined, { links }: PlanDetails) => {
  const isAddress = (link: string): boolean => link.startsWith('0x')
  return {
    addresses: [...(entry?.addresses ?? []), ...links.filter(isAddress)],
    ips: [...(entry?.ips ?? []), ...links.filter((link) => !isAddress(link))],
  }
}

/** Through its text, in which amounts are text too. */
export const toEntryBody = (entry: LedgerEntry): LedgerEntryBody => {
  const body: object = JSON.parse(writeMoney(entry))
  return {
    ...body,
    seq: entry.seq,
    kind: entry.kind,
    moves: entry.moves.map(({ from, to, amount }) => ({ from, to, amount: amount.toString() })),
    at: toTimestamp(entry.at),
    window: toTimestamp(entry.window),
  }
}

export const toReportBody = (report: SpendingReport, unit: Unit) => ({
  window: toTimestamp(report.window),
  unit,
  total: report.total.toString(),
  byOperation: toTexts(report.byOperation),
  byFamily: toTexts(report.byFamily),
  byMode: toTexts(report.byMode),
  byTier: toTexts(report.byTier),
})

export const toTexts = (sums: Readonly<Record<string, bigint>>): Record<string, string> =>
  Object.fromEntries(Object.entries(sums).map(([name, amount]) => [name, amount.toString()]))

export const toVerificationBody = (found: Verification) => ({
  agrees: found.findings.length === 0,
  entries: found.entries,
  accounts: found.accounts,
  compactedThrough: found.compactedThrough,
  head: { ...found.head },
  ...(found.anchor !== undefined && { anchor: found.anchor }),
  findings: found.findings.map(({ kind, what, window, ledger, kept }) => ({
    kind,
    what,
    ...(window !== undefined && { window: toTimestamp(window) }),
    ledger,
    kept,
  })),
})

export const toWindowBody = ({ startsAt, endsAt }: { startsAt: Instant; endsAt: Instant }) => ({
  startsAt: toTimestamp(startsAt),
  endsAt: toTimestamp(endsAt),
})

/** A moment from the wire. One without a zone would mean something else on every machine. */
export const readTimestamp = (text: string, thing: string, code: HttpErrorCode): Instant => {
  const at = parseTimestamp(text)
  if (at !== undefined && at >= 0) return at
  throw new HeadgateError<HttpErrorCode>({
    code,
    thing,
    rule: TIMESTAMP_RULE,
    finding: quote(text),
  })
}
