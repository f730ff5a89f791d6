/** A client of a mirror node's REST API, for the two things that spending asks it. */
import { HeadgateError } from '../../core/errors.ts'
import { type Instant, instant, type Span, seconds, toMillis } from '../../core/time.ts'
import { type Field, readEntries, readList } from '../../documents/field.ts'
import { parseJson } from '../../documents/json.ts'
import { describeNode } from '../../documents/node.ts'
import type { StatedRate } from './exchange-rate.ts'

type MirrorErrorCode = 'MIRROR_ANSWER_INVALID' | 'MIRROR_UNAVAILABLE'

export interface MirrorNode {
  exchangeRate(): Promise<StatedRate>
  /** By `/accounts`, which is current; mirror nodes that do not have it answer by `/balances`. */
  balance(account: string): Promise<AccountBalance>
}

interface AccountBalance {
  readonly account: string
  /** In tinybars. */
  readonly amount: bigint
  /** When the network had this balance, which is earlier than when it was asked. */
  readonly at: Instant
}

export interface MirrorNodeOptions {
  /** Such as `https://mainnet-public.mirrornode.hedera.com`. */
  readonly url: string
  readonly fetch?: typeof fetch
  /** For the whole answer, not only its first byte. */
  readonly timeout?: Span
}

/** No longer: the poller asks again soon. */
const DEFAULT_TIMEOUT = seconds(10)

/** An account with a hundred tokens is 10 kB. */
export const MAX_ANSWER_BYTES = 1024 * 1024

/** Does not retry: the caller polls and will ask again. */
export const createMirrorNode = (options: MirrorNodeOptions): MirrorNode => {
  const { url, fetch: ask = fetch, timeout = DEFAULT_TIMEOUT } = options
  const base = url.replace(/\/+$/, '')

  async function get(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const place = `${base}${path}`
    const signal = AbortSignal.timeout(toMillis(timeout))
    try {
      const response = await ask(place, { signal, headers: { accept: 'application/json' } })
      return { status: response.status, text: await readBounded(response, place) }
    } catch (error) {
      if (error instanceof HeadgateError) throw error
      const finding = signal.aborted ? `none after ${toMillis(timeout)} ms` : describe(error)
      throw unavailable(place, finding, error)
    }
  }

  async function read(path: string): Promise<Field> {
    const { status, text } = await get(path)
    if (status !== 200) throw unavailable(`${base}${path}`, `status ${status}`)
    return parseAnswer(text, `${base}${path}`)
  }

  return {
    exchangeRate: async () => readExchangeRate(await read('/api/v1/network/exchangerate')),
    balance: async (account) => {
      const path = `/api/v1/accounts/${encodeURIComponent(account)}?transactions=false`
      const { status, text } = await get(path)
      if (status === 200) return readAccount(parseAnswer(text, `${base}${path}`), account)
      const older = `/api/v1/balances?account.id=${encodeURIComponent(account)}`
      return readBalances(await read(older), account)
    },
  }
}

async function readBounded(response: Response, place: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > MAX_ANSWER_BYTES) throw unavailable(place, `more than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const describe = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error ? cause.message : String(cause)
}

const unavailable = (place: string, finding: string, cause?: unknown) =>
  new HeadgateError<MirrorErrorCode>(
    { code: 'MIRROR_UNAVAILABLE', thing: place, rule: 'must give an answer', finding },
    { cause },
  )

// Answers are read strictly where it matters; fields that we do not use are ignored.

/** `/api/v1/network/exchangerate`: its current rate. */
function readExchangeRate(answer: Field): StatedRate {
  const current = fieldOf(answer, 'current_rate')
  const cents = numberOf(fieldOf(current, 'cent_equivalent'))
  const hbars = numberOf(fieldOf(current, 'hbar_equivalent'))
  if (cents === 0n || hbars === 0n) refuseAnswer(current, 'must be above zero on both sides')
  const expiry = numberOf(fieldOf(current, 'expiration_time'))
  return { cents, hbars, expiresAt: instant(Number(expiry) * 1_000_000) }
}

/** `/api/v1/accounts/{id}`: `{account, balance: {balance, timestamp}}`. */
function readAccount(answer: Field, account: string): AccountBalance {
  refuseOther(fieldOf(answer, 'account'), account)
  const balance = fieldOf(answer, 'balance')
  return { account, amount: amountOf(balance), at: momentOf(fieldOf(balance, 'timestamp')) }
}

/** `/api/v1/balances?account.id={id}`: `{timestamp, balances: [{account, balance}]}`. */
function readBalances(answer: Field, account: string): AccountBalance {
  const at = momentOf(fieldOf(answer, 'timestamp'))
  const list = fieldOf(answer, 'balances')
  if (list.node.kind !== 'list') return refuseAnswer(list, 'must be a list')
  const [only, ...others] = readList(list)
  if (only === undefined || others.length > 0) {
    return refuseAnswer(list, 'must hold the one account asked for', `${list.node.items.length}`)
  }
  refuseOther(fieldOf(only, 'account'), account)
  return { account, amount: amountOf(only), at }
}

const amountOf = (holder: Field): bigint => numberOf(fieldOf(holder, 'balance'))

function refuseOther(field: Field, account: string): void {
  if (textIn(field) !== account) refuseAnswer(field, `must be ${account}`)
}

/** Seconds and nanoseconds, `1586567700.453054000`; cut to microseconds. */
function momentOf(field: Field): Instant {
  const [, seconds = '', nanos = ''] = /^(\d{1,10})\.(\d{9})$/.exec(textIn(field)) ?? []
  if (seconds === '') return refuseAnswer(field, 'must be seconds with nine decimal places')
  return instant(Number(seconds) * 1_000_000 + Math.floor(Number(nanos) / 1_000))
}

/** Numbers stay text: a balance beyond 2^53 tinybars is ninety million HBAR, and such accounts exist. */
function parseAnswer(text: string, url: string): Field {
  try {
    return { thing: 'answer', node: parseJson(text, url) }
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error
    const { thing, rule, finding, at } = error
    const code = 'MIRROR_ANSWER_INVALID'
    throw new HeadgateError<MirrorErrorCode>({ code, thing, rule, finding, at }, { cause: error })
  }
}

function fieldOf(field: Field, name: string): Field {
  if (field.node.kind !== 'map') return refuseAnswer(field, 'must be an object')
  const found = readEntries(field).find((entry) => entry.name === name)
  return found ?? refuseAnswer(field, `must hold ${name}`, 'none')
}

function textIn(field: Field): string {
  const { node } = field
  return node.kind === 'scalar' && node.quoted ? node.text : refuseAnswer(field, 'must be text')
}

function numberOf(field: Field): bigint {
  const { node } = field
  const text = node.kind === 'scalar' && !node.quoted ? node.text : ''
  return /^\d{1,19}$/.test(text) ? BigInt(text) : refuseAnswer(field, 'must be a whole number')
}

function refuseAnswer({ thing, node }: Field, rule: string, finding = describeNode(node)): never {
  throw new HeadgateError<MirrorErrorCode>({
    code: 'MIRROR_ANSWER_INVALID',
    thing,
    rule,
    finding,
    at: node.at,
  })
}
