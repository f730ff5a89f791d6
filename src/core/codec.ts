/** States as the text that stores keep: numbers in decimal, separated by spaces. */
import type { BudgetState } from './budget.ts'
import { assert } from './errors.ts'
import type { GcraState } from './gcra.ts'
import { recent } from './recent.ts'
import type { StagedState } from './staged.ts'
import type { Value } from './store.ts'
import { instant, span } from './time.ts'

export const encodeGcra = ({ tat, capacity, since }: GcraState): Value =>
  `${tat} ${capacity} ${since}`

export const decodeGcra = (value: Value): GcraState => {
  const [tat, capacity, since] = threeNumbers(value)
  return { tat: instant(tat), capacity: span(capacity), since: instant(since) }
}

export const encodeStaged = ({ counter, timer, disabled }: StagedState): Value =>
  `${counter} ${timer} ${disabled ? 1 : 0}`

export const decodeStaged = (value: Value): StagedState => {
  const [counter, timer, disabled] = threeNumbers(value)
  return { counter, timer: instant(timer), disabled: disabled === 1 }
}

/** Money stays decimal text from here to the store: it never passes through a double. */
export const encodeBudget = (state: BudgetState): Value => {
  const { spent, held } = state
  // Joined at once: grown piece by piece, the text took four times as long.
  const value = [spent, ...held.map((hold) => `${hold.expiresAt}:${hold.amount}`)].join(' ')
  budgets.set(value, state)
  return value
}

export const decodeBudget = (value: Value): BudgetState => {
  const known = budgets.get(value)
  if (known !== undefined) return known
  const [spent, ...holds] = value.split(' ')
  const state = {
    spent: amount(spent),
    held: holds.map((hold) => {
      const [expiresAt, held] = hold.split(':')
      return { expiresAt: instant(number(expiresAt)), amount: amount(held) }
    }),
  }
  budgets.set(value, state)
  return state
}

/**
 * What one step writes the next one reads, and a payer's total, with a hundred holds on it, is on
 * every path: taking it apart anew took a third of the time of an admission.
 */
const budgets = recent<BudgetState>(512)

/** Cut by hand: on the path of every decision, and `split` took twice the time. */
function threeNumbers(value: Value): [number, number, number] {
  const first = value.indexOf(' ')
  const second = value.indexOf(' ', first + 1)
  assert(first > 0 && second > 0, () => `three numbers: ${JSON.stringify(value)}`)
  return [
    number(value.slice(0, first)),
    number(value.slice(first + 1, second)),
    number(value.slice(second + 1)),
  ]
}

function number(text: string | undefined): number {
  const n = Number(text)
  assert(
    text !== undefined && text !== '' && Number.isSafeInteger(n),
    () => `a whole number: ${text}`,
  )
  return n
}

function amount(text: string | undefined): bigint {
  assert(text !== undefined && /^-?\d+$/.test(text), () => `an amount: ${text}`)
  return BigInt(text)
}
