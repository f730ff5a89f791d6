/** One atomic admission over every node on the path: check, and hold. Pure steps. */
import type { Charge } from '../core/decide.ts'
import { type BatchVerdict, decideAll } from '../core/decide-all.ts'
import { after, type Instant, type Span, span, type Wait } from '../core/time.ts'
import { planStanding, type SpendingAnswer, totalStanding } from './answer.ts'
import type { Who } from './ask.ts'
import { type Change, type Context, unchanged } from './context.ts'
import { planNode } from './party.ts'
import { type Path, type PathNode, pathFor } from './path.ts'
import type { Plan } from './plan.ts'
import type { SpendingReason } from './reason.ts'
import { type Resolution, resolve } from './resolve.ts'
import { expiryOn, readSheet, type Sheet } from './sheet.ts'

/** What an admission found out, before anything is made of it. */
export interface Admission {
  readonly answer: SpendingAnswer
  readonly resolution: Resolution
  readonly path: Path
  readonly verdict: BatchVerdict
  /** When a hold made of it ends by itself. */
  readonly expiresAt: Instant
}

export const isOff = ({ settings }: Context): boolean => settings.total === 0n

/** Answers as a hold would. Writes nothing and promises nothing about the next call. */
export const check = (context: Context, who: Who, estimate: bigint): Change<SpendingAnswer> =>
  unchanged(isOff(context) ? offAnswer(context) : admit(context, who, estimate).answer)

/** Asks every node at once. With `holdFor` the verdict holds the writes that keep it aside. */
export const admit = (context: Context, who: Who, estimate: bigint, holdFor?: Span): Admission => {
  const { view, keys, calendar } = context
  const { startsAt } = calendar.window
  const resolution = resolve(context, who)
  const path = pathFor(context, resolution.party, resolution.plan)
  const sheet = readSheet(
    context,
    startsAt,
    path.nodes.map(({ node }) => node),
  )
  const expiresAt = expiryOn(sheet, after(view.now, holdFor ?? span(0)), view.now)
  const holds = holdFor !== undefined && resolution.plan?.active !== false
  const charges = path.nodes.map(
    ({ node, limit }): Charge => ({
      key: keys.node(startsAt, node),
      limit: holdFor === undefined ? limit : { ...limit, holdUntil: expiresAt },
      cost: estimate,
      mode: holds ? 'spend' : 'check',
    }),
  )
  const verdict = decideAll(charges, view)
  const binding = bindingOf(path, verdict, resolution.plan)
  const answer: SpendingAnswer = {
    allowed: binding === undefined,
    reason: binding?.reason ?? null,
    node: binding?.node ?? null,
    retryIn: binding?.retryIn ?? span(0),
    plan: binding?.common === true ? null : ownStanding(context, resolution, path, sheet),
    total: totalStanding(context, sheet),
    window: calendar.window,
  }
  return { answer, resolution, path, verdict, expiresAt }
}

/** Off: everything is allowed, and nothing is counted. */
export const offAnswer = ({ calendar }: Context): SpendingAnswer => ({
  allowed: true,
  reason: null,
  node: null,
  retryIn: span(0),
  plan: null,
  total: { limit: 0n, spent: 0n, held: 0n, remaining: 0n },
  window: calendar.window,
})

interface Binding {
  readonly node: string
  readonly reason: SpendingReason
  readonly retryIn: Wait
  readonly common: boolean
}

/** The first that refuses gives the reason; the longest wait of all that refuse is the wait. */
function bindingOf(path: Path, verdict: BatchVerdict, plan: Plan | undefined): Binding | undefined {
  const first = verdict.violated[0] ?? path.nodes.length
  if (plan?.active === false && first >= path.common) {
    return { node: planNode(plan.id), reason: 'PLAN_INACTIVE', retryIn: 'never', common: false }
  }
  const refusing: PathNode | undefined = path.nodes[first]
  if (refusing === undefined) return undefined
  const waits = verdict.violated.map(
    (i) => path.nodes[i]?.retryIn ?? verdict.decisions[i]?.retryIn ?? 'never',
  )
  const { node, reason } = refusing
  return { node, reason, retryIn: waits.reduce(longer), common: first < path.common }
}

function longer(a: Wait, b: Wait): Wait {
  return a === 'never' || (b !== 'never' && a >= b) ? a : b
}

function ownStanding(context: Context, { plan }: Resolution, { allowance }: Path, sheet: Sheet) {
  if (plan === undefined || allowance === undefined) return null
  return planStanding(context, plan, allowance, sheet, isFresh(plan, sheet))
}

function isFresh({ id }: Plan, sheet: Sheet): boolean {
  return sheet.get(planNode(id)) === undefined
}
