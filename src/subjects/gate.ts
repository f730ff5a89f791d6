/**
 * The gate before every charge: is a subject blocked? It answers from memory, with no round trip,
 * and follows the stream of changes, so that every node feels a block within a second.
 *
 * It never guesses: when it has not heard from the store for a second it says so, and the policy of
 * the limit that was asked for decides.
 */
import { type FollowerOptions, followRates } from './follower.ts'
import type { AppliedRate } from './rate-steps.ts'
import { checkProvider, checkSubjects } from './rates.ts'

export type Judgement =
  | { readonly state: 'clear' }
  | { readonly state: 'blocked'; readonly by: AppliedRate }
  /** The store has been silent for too long: what is remembered may be out of date. */
  | { readonly state: 'unheard' }

export interface SubjectGate {
  judge(subjects: readonly string[]): Judgement
  /** The smallest rate above 0 that applies, for limits that take their count from it. */
  smallestRate(subjects: readonly string[]): number | undefined
  /** Everything that applies, and why. As fresh as the last word from the store. */
  ratesFor(subjects: readonly string[]): readonly AppliedRate[]
  /** Resolves when all that is in the store by now has been heard. */
  catchUp(): Promise<void>
  close(): void
}

/** By `clock` rates expire; by `uptime`, which never steps back, silence is measured. */
export type SubjectGateOptions = FollowerOptions

export const createSubjectGate = (options: SubjectGateOptions): SubjectGate => {
  const { clock } = options
  const follower = followRates({ ...options, provider: checkProvider(options.provider) })

  const ratesFor = (subjects: readonly string[]): readonly AppliedRate[] => {
    checkSubjects(subjects)
    return follower.board()?.applying(subjects, clock()) ?? []
  }

  return {
    ratesFor,
    judge: (subjects) => {
      checkSubjects(subjects)
      const board = follower.board()
      if (board === undefined || !follower.isHeard()) return { state: 'unheard' }
      const by = board.blockOn(subjects, clock())
      return by === undefined ? CLEAR : { state: 'blocked', by }
    },
    smallestRate: (subjects) => {
      const positive = ratesFor(subjects).flatMap(({ rate: { rate } }) => (rate > 0 ? [rate] : []))
      return positive.length === 0 ? undefined : Math.min(...positive)
    },
    catchUp: follower.catchUp,
    close: follower.close,
  }
}

const CLEAR: Judgement = { state: 'clear' }
