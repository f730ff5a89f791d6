/** States as the text that stores keep: numbers in decimal, separated by spaces. */
import type { BudgetState } from './budget.ts'
import { assert } from './errors.ts'
import type { GcraState } from './gcra.ts'
import type { StagedState } from './staged.ts'
import type { Value } from './store.ts'
import { instant, span } from './time.ts'

export const encodeGcra = ({ tat, capacity, since }: GcraState): Value =>
  `${tat} ${capacity} ${since}`

export const decodeGcra = (value: Value): GcraState => {
  const [tat, capacity, since] = fields(value, 3)
  return {
    tat: instant(number(tat)),
    capacity: span(number(capacity)),
    since: instant(number(since)),
  }
}

export const encodeStaged = ({ counter, timer, disabled }: StagedState): Value =>
  `${counter} ${timer} ${disabled ? 1 : 0}`

export const decodeStaged = (value: Value): StagedState => {
  const [counter, timer, disabled] = fields(value, 3)
  return { counter: number(counter), timer: instant(number(timer)), disabled: disabled === '1' }
}

/** Money stays decimal text from here to the store: it never passes through a double. */
export const encodeBudget = ({ spent, held }: BudgetState): Value =>
  [spent, ...held.map((hold) => `${hold.expiresAt}:${hold.amount}`)].join(' ')

export const decodeBudget = (value: Value): BudgetState => {
  const [spent, ...holds] = value.split(' ')
  return {
    spent: amount(spent),
    held: holds.map((hold) => {
      const [expiresAt, held] = hold.split(':')
      return { expiresAt: instant(number(expiresAt)), amount: amount(held) }
    }),
  }
}

function fields(value: Value, count: number): string[] {
  const parts = value.split(' ')
  assert(parts.length === count, `a state has ${count} fields: ${JSON.stringify(value)}`)
  return parts
}

function number(text: string | undefined): number {
  const n = Number(text)
  assert(text !== undefined && text !== '' && Number.isSafeInteger(n), `a whole number: ${text}`)
  return n
}

function amount(text: string | undefined): bigint {
  assert(text !== undefined && /^-?\d+$/.test(text), `an amount: ${text}`)
  return BigInt(text)
}
