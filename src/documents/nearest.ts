/** The known name that a mistyped one was probably meant to be. */

/** Longer names are not typing mistakes, and comparing them would cost their length squared. */
const MAX_LENGTH = 100

/** Undefined if none is close: a wrong suggestion is worse than none. */
export const nearestName = (name: string, known: Iterable<string>): string | undefined => {
  if (name.length > MAX_LENGTH) return undefined
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(name.length / 4)) + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance >= bestDistance || distance >= candidate.length) continue
    best = candidate
    bestDistance = distance
  }
  return best
}

/** ` (did you mean X?)`, or nothing. */
export const suggestion = (name: string, known: Iterable<string>): string => {
  const nearest = nearestName(name, known)
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`
}

/** Levenshtein's: insertions, deletions and replacements, one row of the table at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
