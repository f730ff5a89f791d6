/** The types of stats.js, for its test. */
export interface Summary {
  readonly median: number
  readonly low: number
  readonly high: number
}

export interface Comparison {
  readonly ratio: number
  readonly resolved: boolean
}

export function summarise(samples: readonly number[]): Summary
export function compare(samples: readonly number[], base: readonly number[]): Comparison
export function percentile(samples: readonly number[], share: number): number
export function shuffle<T>(list: readonly T[], random?: () => number): T[]
