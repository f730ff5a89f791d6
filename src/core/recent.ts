/** What was lately made of a text: a cache of a pure function, so that nobody can tell but by the time. */

export interface Recent<T> {
  get(text: string): T | undefined
  set(text: string, made: T): void
}

/**
 * Keeps between `size` and twice as many. Two generations instead of an order of use: a lookup
 * moves nothing, and the older half goes at once.
 */
export const recent = <T>(size: number): Recent<T> => {
  let young = new Map<string, T>()
  let old = young
  return {
    get: (text) => young.get(text) ?? old.get(text),
    set: (text, made) => {
      if (young.size >= size) {
        old = young
        young = new Map()
      }
      young.set(text, made)
    },
  }
}
