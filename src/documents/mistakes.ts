/** Every mistake at once: a reader goes on after one, and throws at the end what it found in all. */
import { HeadgateError } from '../core/errors.ts'

/** Nobody mends more in one go, and a file of a million overrides could hold as many. */
export const MAX_MISTAKES = 200

/** Several mistakes. Whoever looks at one error sees the first of them, and how many follow. */
export class Mistakes extends HeadgateError {
  override readonly name = 'Mistakes'
  readonly all: readonly HeadgateError[]

  constructor(first: HeadgateError, others: readonly HeadgateError[]) {
    super(first, { cause: first })
    const { length } = others
    this.message = `${first.message} (and ${length} more)`
    this.all = [first, ...others]
  }
}

/** Each of the mistakes that an error is. What is no mistake of a caller is thrown as it is. */
export const mistakesIn = (error: unknown): readonly HeadgateError[] => {
  if (error instanceof Mistakes) return error.all
  if (error instanceof HeadgateError) return [error]
  throw error
}

export interface Gathering {
  readonly found: readonly HeadgateError[]
  /** What is read, or undefined if that was a mistake, which is kept. */
  attempt<T>(read: () => T): T | undefined
  attemptLater<T>(read: () => Promise<T>): Promise<T | undefined>
  /** Keeps the mistakes of something caught, or that was read elsewhere. */
  keep(error: unknown): undefined
  /** Throws what was found, if anything. */
  end(): void
}

/** Ends by itself once it has found `MAX_MISTAKES`. */
export const gathering = (): Gathering => {
  const found: HeadgateError[] = []
  const end = (): void => {
    const [first, ...others] = found
    if (first === undefined) return
    throw others.length === 0 ? first : new Mistakes(first, others)
  }
  const keep = (error: unknown): undefined => {
    found.push(...mistakesIn(error))
    if (found.length < MAX_MISTAKES) return undefined
    found.length = MAX_MISTAKES
    end()
    return undefined
  }
  return {
    found,
    keep,
    end,
    attempt: (read) => {
      try {
        return read()
      } catch (error) {
        return keep(error)
      }
    },
    attemptLater: async (read) => {
      try {
        return await read()
      } catch (error) {
        return keep(error)
      }
    },
  }
}

/** Reads each, also after a mistake in one; throws those of all of them. */
export const readAll = <Item, T>(items: readonly Item[], read: (item: Item) => T): readonly T[] => {
  const mistakes = gathering()
  const values: T[] = []
  for (const item of items) mistakes.attempt(() => values.push(read(item)))
  mistakes.end()
  return values
}
