/**
 * The gate of a process that asks a few questions and ends. It follows nothing: it reads the rates of
 * the subjects that a question names, and no others, in one round trip before each question.
 */
import type { SubjectGate, SubjectGateOptions } from './gate.ts'
import { type AppliedRate, isBlock } from './rates/rate.ts'
import { createRates } from './rates/rates.ts'

/** Subjects whose rates a lookup holds; only those of questions under way are needed. */
const MAX_LOOKED_UP = 4_096

export const createSubjectLookup = (
  options: Pick<SubjectGateOptions, 'store' | 'provider'>,
): SubjectGate => {
  const { store } = options
  const rates = createRates(options)
  const found = new Map<string, readonly AppliedRate[]>()
  const applying = (subjects: readonly string[]): readonly AppliedRate[] =>
    subjects.flatMap((subject) => found.get(subject) ?? [])
  return {
    ready: async (subjects) => {
      const applied = await rates.ratesFor(subjects)
      for (const subject of subjects) {
        found.delete(subject)
        found.set(
          subject,
          applied.filter((each) => each.subject === subject),
        )
      }
      for (const subject of found.keys()) {
        if (found.size <= MAX_LOOKED_UP) break
        found.delete(subject)
      }
    },
    judge: (subjects) => {
      const block = applying(subjects).find(({ rate }) => isBlock(rate))
      if (block !== undefined) {
        return { state: 'blocked', by: { subject: block.subject, form: block.form } }
      }
      return subjects.every((subject) => found.has(subject))
        ? { state: 'clear' }
        : { state: 'stale' }
    },
    smallestRate: (subjects) => {
      const positive = applying(subjects).flatMap(({ rate: { rate } }) => (rate > 0 ? [rate] : []))
      return positive.length === 0 ? undefined : Math.min(...positive)
    },
    isHeard: () => true,
    catchUp: async () => {},
    store,
    close: () => {},
  }
}
