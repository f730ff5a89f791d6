/** Holding: an admission that keeps the estimate aside on every node of its path. */
import { decodeBudget } from '../core/codec.ts'
import type { Write } from '../core/store.ts'
import { type Admission, admit, isOff, offAnswer } from './admission.ts'
import { planStanding, type SpendingAnswer, totalStanding } from './answer.ts'
import { type HoldAsk, toAmount, toNote, toWho } from './ask.ts'
import { type Change, type Context, unchanged } from './context.ts'
import { type EntryDraft, move } from './entry.ts'
import { encodeExtra } from './extra.ts'
import { type HoldRecord, holdId, writeHold } from './hold.ts'
import { once } from './operations.ts'
import { indexed, type Sheet } from './sheet.ts'

/** `nonce` is chance, drawn by the caller: a step that runs again must make the same hold. */
export const hold = (context: Context, ask: HoldAsk, nonce: string): Change<SpendingAnswer> => {
  const who = toWho(ask)
  const estimate = toAmount(ask.estimate ?? 0n, 'estimate')
  const note = toNote(ask)
  if (isOff(context)) return unchanged(offAnswer(context))
  const question = [who.address, who.ip, who.operation, who.mode, estimate]
  return once<SpendingAnswer>(
    context,
    { verb: 'hold', id: ask.operationId, question },
    () => {
      const admission = admit(context, who, estimate, context.settings.holdFor)
      if (!admission.answer.allowed) return unchanged(admission.answer)
      const record = newHold(context, admission, estimate, nonce)
      const entry = { ...openingEntry(record), operationId: ask.operationId, note }
      return {
        result: grantedAnswer(context, admission, record),
        writes: holdWrites(context, admission, record),
        entries: [entry],
      }
    },
    ({ allowed }) => allowed,
  )
}

function newHold(
  context: Context,
  { resolution, expiresAt }: Admission,
  estimate: bigint,
  nonce: string,
): HoldRecord {
  const { window } = context.calendar
  const { party } = resolution
  return {
    id: holdId({ now: context.view.now, window: window.startsAt }, party.plan, nonce),
    window,
    party,
    expiresAt,
    amount: estimate,
    open: estimate,
    captured: 0n,
    charged: 0n,
    status: 'open',
  }
}

function openingEntry({ id, window, party, expiresAt, amount }: HoldRecord): EntryDraft {
  const moves = move('available', 'held', amount)
  return { kind: 'hold', window: window.startsAt, party, moves, hold: id, expiresAt }
}

/** The admission's answer, with the standings as the hold leaves them. */
function grantedAnswer(context: Context, admission: Admission, record: HoldRecord): SpendingAnswer {
  const { answer, resolution, path } = admission
  const held = heldSheet(context, admission)
  const { plan } = resolution
  return {
    ...answer,
    plan:
      plan === undefined || path.allowance === undefined
        ? null
        : planStanding(context, plan, path.allowance, held, answer.plan?.fresh === true),
    total: totalStanding(context, held),
    holdId: record.id,
    expiresAt: record.expiresAt,
  }
}

function holdWrites(
  context: Context,
  { resolution, path, verdict }: Admission,
  record: HoldRecord,
): readonly Write[] {
  const { keys, calendar } = context
  const { startsAt } = calendar.window
  const nodes = new Map(path.nodes.map(({ node }) => [keys.node(startsAt, node), node]))
  const balances = verdict.writes.map((write) =>
    indexed(context, startsAt, nodes.get(write.key) ?? '', write),
  )
  // What was carried over is fixed by the first charge of the window.
  const extra =
    path.allowance?.isNew === true && resolution.plan !== undefined
      ? [
          {
            key: keys.extra(startsAt, resolution.plan.id),
            value: encodeExtra(path.allowance.extra),
          },
        ]
      : []
  return [...balances, ...extra, ...resolution.links, writeHold(context, record)]
}

function heldSheet({ keys, calendar }: Context, { path, verdict }: Admission): Sheet {
  const values = new Map(verdict.writes.map(({ key, value }) => [key, value]))
  return new Map(
    path.nodes.map(({ node }) => {
      const value = values.get(keys.node(calendar.window.startsAt, node))
      return [node, value === undefined ? undefined : decodeBudget(value)]
    }),
  )
}
