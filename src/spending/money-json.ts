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
  'reversed',
  'carried',
  'passed',
  'owed',
  'limit',
  'remaining',
  'spentThen',
  'voided',
  'pinned',
])

/** Fields that are undefined are left out. */
export const writeMoney = (record: object): string => JSON.stringify(amountsAsText(record))

/** Those fields of a record that are not `written` yet, after what is: the text of both. */
export const writeMoneyAfter = (
  head: object,
  record: object,
  written: ReadonlySet<string>,
): string => {
  const all: Record<string, unknown> = { ...head }
  if (isRecord(record)) {
    for (const field in record) {
      const held = record[field]
      if (held !== undefined && !written.has(field)) all[field] = amountsAsText(held)
    }
  }
  return JSON.stringify(all)
}

/** The caller names the type: only spending writes these records. */
export const readMoney = <T>(text: string): T => {
  const record = JSON.parse(text)
  reviveMoney(record)
  return record
}

/** How such a record is remembered under an operation id. */
export const moneyText = <T extends object>() => ({
  encode: (record: T): string => writeMoney(record),
  decode: (text: string): T => readMoney<T>(text),
})

/** A copy: a replacer of `JSON.stringify` takes a third more time. */
function amountsAsText(held: unknown): unknown {
  if (typeof held === 'bigint') return held.toString()
  if (!isRecord(held)) return held
  if (Array.isArray(held)) return held.map(amountsAsText)
  const copy: Record<string, unknown> = {}
  for (const field in held) copy[field] = amountsAsText(held[field])
  return copy
}

/** In place, in what was just parsed: a reviver of `JSON.parse` takes more than twice the time. */
function reviveMoney(record: Record<string, unknown>): void {
  for (const field in record) {
    const held = record[field]
    if (isRecord(held)) reviveMoney(held)
    else if (typeof held === 'string' && MONEY.has(field) && DIGITS.test(held)) {
      record[field] = BigInt(held)
    }
  }
}

/** A list is one too: its fields are its places. */
function isRecord(held: unknown): held is Record<string, unknown> {
  return typeof held === 'object' && held !== null
}

const DIGITS = /^-?\d+$/
