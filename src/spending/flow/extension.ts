/**
 * Extension: a hold goes on, for longer and for more. What pays for a stream of unknown length holds one
 * stretch, captures it as it flows, and extends for the next until that is refused.
 *
 * In one step the old hold ends at its captures and a new one takes its place, with what was still open and
 * the next estimate, in the window of now. Refused, the old one stays as it was.
 */
import type { Key, Value } from '../../core/store.ts'
import { parseAmount } from '../amount.ts'
import type { EntryFlag } from '../ledger/entry.ts'
import { payingPlan } from '../plans/resolve.ts'
import { admit, isOff, offAnswer } from './admission.ts'
import { heldText, type SpendingAnswer } from './answer.ts'
import { type ExtendAsk, toNote } from './ask.ts'
import { checkLifetime, holdClosed, keptIdOf, onHold, openHold, readHold } from './hold.ts'
import { settleAct } from './settlement.ts'
import {
  type LedgerChange,
  type PayerView,
  type SpendingAct,
  type SpendingStep,
  unchanged,
  underOperationId,
} from './step.ts'

export const extendAct = (ask: ExtendAsk, nonce: string): SpendingAct<SpendingAnswer> => {
  const { holdId, operationId } = ask
  const more = parseAmount(ask.estimate ?? 0n, 'estimate')
  const holdFor = checkLifetime(ask.holdFor)
  const note = toNote(ask)
  const once = {
    verb: 'extend',
    id: operationId,
    question: [keptIdOf(holdId), more, holdFor],
  } as const
  const settle = settleAct({ holdId, ...note }).step
  const step: SpendingStep<SpendingAnswer> = (view) => {
    const hold = readHold(view, holdId)
    if (hold.status !== 'open') throw holdClosed(hold, 'extend')
    const ended = settle(view)
    const next = afterwards(view, ended)
    const { party } = hold
    const estimate = hold.open + more
    const resolution = { plan: payingPlan(view, party), party, newLinks: [] }
    const admission = admit(next, resolution, estimate, holdFor ?? view.settings.holdFor)
    const detail = `in place of ${hold.id}`
    const flags = EXTENDED
    const opened = openHold(next, admission, { estimate, nonce, operationId, note, detail, flags })
    return opened.result.allowed ? together(ended, opened) : unchanged(opened.result)
  }
  const counted = underOperationId(
    once,
    step,
    () => heldText(undefined),
    ({ allowed }) => allowed,
  )
  return {
    guess: onHold(holdId, once, { goesOn: true }),
    // What was held before spending was switched off stays to be settled; a stream goes on under it.
    step: (view) => (isOff(view) ? unchanged({ ...offAnswer(view), holdId }) : counted(view)),
  }
}

const EXTENDED: readonly EntryFlag[] = ['extended']

/** The view as a change leaves it, before it is committed. */
function afterwards(view: PayerView, { writes }: LedgerChange<unknown>): PayerView {
  const written = new Map<Key, Value | undefined>(writes.map(({ key, value }) => [key, value]))
  const read: PayerView['read'] = (...names) => {
    const values = view.read(...names)
    return names.map((name, i) => (written.has(name) ? written.get(name) : values[i]))
  }
  return { ...view, read }
}

/** Two changes as one: where both write a key, the second counts. */
function together<R>(first: LedgerChange<unknown>, second: LedgerChange<R>): LedgerChange<R> {
  const again = new Set(second.writes.map(({ key }) => key))
  return {
    ...second,
    writes: [...first.writes.filter(({ key }) => !again.has(key)), ...second.writes],
    entries: [...first.entries, ...second.entries],
  }
}
