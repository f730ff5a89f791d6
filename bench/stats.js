/** What repeated measurements say: the middle, the range, and whether two of them differ at all. */

/** The middle and the range of some measurements. */
export const summarise = (samples) => ({
  median: median(samples),
  low: Math.min(...samples),
  high: Math.max(...samples),
})

/**
 * How many times faster than a base measured in the same rounds. By the median of the ratios round
 * by round: what slowed the machine in one round slowed both, and drops out of their ratio.
 * Resolved only if the two ranges do not touch.
 */
export const compare = (samples, base) => {
  if (samples.length !== base.length) {
    throw new RangeError(`rounds must pair up: ${samples.length} beside ${base.length}`)
  }
  const ours = summarise(samples)
  const theirs = summarise(base)
  return {
    ratio: median(samples.map((sample, round) => sample / base[round])),
    resolved: ours.low > theirs.high || ours.high < theirs.low,
  }
}

/** The least of the samples that so many of them do not pass; 0 of none. */
export const percentile = (samples, share) => {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

/** A copy in random order; `random` answers numbers from 0 up to, but not including, 1. */
export const shuffle = (list, random = Math.random) => {
  const left = [...list]
  const drawn = []
  while (left.length > 0) drawn.push(...left.splice(Math.floor(random() * left.length), 1))
  return drawn
}

const median = (samples) => {
  if (samples.length === 0) throw new RangeError('no measurements have no median')
  const sorted = samples.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
