/** The smaller and the larger of two amounts: `Math.min` and `Math.max` take no bigint. */

export const least = (a: bigint, b: bigint): bigint => {
  if (a < b) return a
  return b
}

export const most = (a: bigint, b: bigint): bigint => {
  if (a > b) return a
  return b
}
