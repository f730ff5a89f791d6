/** Records with money in them, as the text that stores keep: amounts are decimal text, not JSON numbers. */

/** The fields that hold money, in every record that spending keeps. No other field has these names. */
const MONEY = new Set([
  'amount',
  'spent',
  'held',
  'left',
  'open',
  'captured',
  'charged',
  'final',
  'overage',
  'released',
  'carried',
  'drawn',
  'limit',
  'remaining',
  'spentThen',
])

/** Fields that are undefined are left out. */
export const writeMoney = (record: object): string =>
  JSON.stringify(record, (_, held) => (typeof held === 'bigint' ? held.toString() : held))

/** The caller names the type: only spending writes these records. */
export const readMoney = <T>(text: string): T =>
  JSON.parse(text, (field, held) =>
    MONEY.has(field) && typeof held === 'string' && DIGITS.test(held) ? BigInt(held) : held,
  )

const DIGITS = /^-?\d+$/
