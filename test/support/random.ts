/** Chance with a seed, so that a failing run can be run again. Mulberry32. */
export interface Random {
  /** A whole number from 0 to below `n`. */
  below(n: number): number
  pick<T>(list: readonly T[]): T
}

export const seeded = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number): number => Math.floor(next() * n)
  return {
    below,
    pick: (list) => {
      const found = list[below(list.length)]
      if (found === undefined) throw new Error('an empty list has nothing to pick')
      return found
    },
  }
}

/** A word with one typing mistake: a letter doubled, left out, exchanged with the next, or capital. */
export const mistyped = (word: string, random: Random): string => {
  const at = random.below(word.length)
  const [before, letter = '', after] = [word.slice(0, at), word[at], word.slice(at + 1)]
  return random.pick([
    `${before}${letter}${letter}${after}`,
    `${before}${after}`,
    `${before}${after.slice(0, 1)}${letter}${after.slice(1)}`,
    `${before}${letter.toUpperCase()}${after}`,
  ])
}
