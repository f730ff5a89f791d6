/**
 * Whether a history of calls that overlapped is one that could have come of the same calls, one after
 * another: each at some moment between its question and its answer (Wing and Gong, with the states
 * that were tried before remembered, as Lowe has it).
 */

/** A call, by a clock that all clients share. */
export interface TimedCall<Ask, Answer> {
  readonly ask: Ask
  readonly begin: number
  /** Infinity: its client never heard of it. It happened at any time since, or never. */
  readonly end: number
  /** Undefined where its client never heard of it. */
  readonly answer: Answer | undefined
}

export interface SequentialModel<State, Ask, Answer> {
  readonly initial: State
  /** The state afterwards; undefined if the call could not have been answered so in this one. */
  apply(state: State, call: TimedCall<Ask, Answer>): State | undefined
  /** Equal states have equal texts. */
  text(state: State): string
}

/** An order of all calls that were answered, and of those others that it needs; undefined: there is none. */
export const linearize = <State, Ask, Answer, Call extends TimedCall<Ask, Answer>>(
  history: readonly Call[],
  model: SequentialModel<State, Ask, Answer>,
): readonly Call[] | undefined => {
  const calls = history.toSorted((a, b) => a.begin - b.begin)
  const done = new Set<number>()
  const order: number[] = []
  const tried = new Set<string>()

  const goOn = (state: State): boolean => {
    const left = [...calls.keys()].filter((i) => !done.has(i))
    const firstEnd = Math.min(...left.map((i) => calls[i]?.end ?? 0))
    if (firstEnd === Number.POSITIVE_INFINITY || left.length === 0) return true
    const key = `${left.join()} ${model.text(state)}`
    if (tried.has(key)) return false
    tried.add(key)
    return left.some((i) => {
      const call = calls[i]
      // One that began when another had ended cannot come before it.
      if (call === undefined || call.begin > firstEnd) return false
      const next = model.apply(state, call)
      if (next === undefined) return false
      done.add(i)
      order.push(i)
      if (goOn(next)) return true
      done.delete(i)
      order.pop()
      return false
    })
  }
  return goOn(model.initial) ? order.flatMap((i) => calls[i] ?? []) : undefined
}
