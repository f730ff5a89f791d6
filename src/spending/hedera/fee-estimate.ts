/** What storing call data in files will cost, known before it is done: HFS fees, in exact arithmetic. */
import { HeadgateError } from '../../core/errors.ts'
import type { ExchangeRate } from './exchange-rate.ts'

export type FeeErrorCode = 'EXCHANGE_RATE_UNAVAILABLE' | 'FILE_SIZE_INVALID'

/** Prices in units of a ten-thousandth of a US cent: the finest that the network states. */
export interface FeeTable {
  readonly create: bigint
  /** For a whole chunk. */
  readonly append: bigint
  /** For a chunk of n bytes: `base + n × perByte`. Below zero it is nothing. */
  readonly base: bigint
  readonly perByte: bigint
  readonly recordQuery: bigint
}

export type FeeTableName = 'current' | 'legacy'

export const FEE_TABLES: Readonly<Record<FeeTableName, FeeTable>> = {
  /** Since HIP-1261, "simple fees". */
  current: {
    create: 501_840n,
    append: 501_410n,
    base: -62_010n,
    perByte: 110n,
    recordQuery: 100n,
  },
  /** Until then. */
  legacy: { create: 95_100n, append: 95_500n, base: 39_000n, perByte: 11n, recordQuery: 100n },
}

/** The tables price chunks of 5 KB, the most that fits a transaction; a larger one would be underpriced. */
export const MAX_CHUNK_SIZE = 5_120

interface FileSize {
  /** As it is stored: hex text has two characters a byte. */
  readonly callDataSize: number
  readonly chunkSize: number
}

export interface FileFee extends FileSize {
  /** Undefined while it is not known. */
  readonly rate: ExchangeRate | undefined
  readonly table?: FeeTableName
}

/** In tinybars, rounded half up. Never negative, and never less for more data. */
export const estimateFileFee = ({ rate, table = 'current', ...size }: FileFee): bigint =>
  toTinybars(filePrice(size, FEE_TABLES[table]), rate)

/** In ten-thousandths of a cent: one create, an append for each further chunk, the last by its bytes. */
const filePrice = ({ callDataSize, chunkSize }: FileSize, table: FeeTable): bigint => {
  checkSize('call data size', callDataSize, 0, Number.MAX_SAFE_INTEGER)
  checkSize('file chunk size', chunkSize, 1, MAX_CHUNK_SIZE)
  if (callDataSize <= chunkSize) return table.create
  const [size, chunk] = [BigInt(callDataSize), BigInt(chunkSize)]
  const rest = size % chunk
  const last = rest === 0n ? 0n : atLeastNothing(table.base + rest * table.perByte)
  return table.create + (size / chunk - 1n) * table.append + last
}

/** From ten-thousandths of a cent. */
const toTinybars = (price: bigint, rate: ExchangeRate | undefined): bigint => {
  if (rate === undefined || rate.cents <= 0n || rate.hbars <= 0n) {
    throw new HeadgateError<FeeErrorCode>({
      code: 'EXCHANGE_RATE_UNAVAILABLE',
      thing: 'exchange rate',
      rule: 'must be known, in cents for one HBAR and above zero, before fees can be estimated',
      finding: rate === undefined ? 'none' : `${rate.cents} cents for ${rate.hbars} HBAR`,
    })
  }
  return divideHalfUp(price * TINYBARS * rate.hbars, PRICES * rate.cents)
}

const TINYBARS = 100_000_000n
const PRICES = 10_000n

const atLeastNothing = (price: bigint): bigint => (price > 0n ? price : 0n)

const divideHalfUp = (dividend: bigint, divisor: bigint): bigint =>
  (2n * dividend + divisor) / (2n * divisor)

function checkSize(thing: string, size: number, min: number, max: number): void {
  if (Number.isInteger(size) && size >= min && size <= max) return
  const rule = `must be a whole number of bytes from ${min} to ${max}`
  throw new HeadgateError<FeeErrorCode>({
    code: 'FILE_SIZE_INVALID',
    thing,
    rule,
    finding: `${size}`,
  })
}
