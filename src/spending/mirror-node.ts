/** A client of a mirror node's REST API, for the two things that spending asks it. */
import { HeadgateError } from '../core/errors.ts'
import { type Span, seconds, toMillis } from '../core/time.ts'
import type { Field } from '../documents/index.ts'
import { type AccountBalance, readAccount, readBalances } from './balance-reading.ts'
import { readExchangeRate, type StatedRate } from './exchange-rate.ts'
import { type MirrorErrorCode, parseMirrorAnswer } from './mirror-answer.ts'

export interface MirrorNode {
  exchangeRate(): Promise<StatedRate>
  /** By `/accounts`, which is current; mirror nodes that do not have it answer by `/balances`. */
  balance(account: string): Promise<AccountBalance>
}

export interface MirrorNodeOptions {
  /** Such as `https://mainnet-public.mirrornode.hedera.com`. */
  readonly url: string
  readonly fetch?: typeof fetch
  /** For the whole answer, not only its first byte. */
  readonly timeout?: Span
}

/** An operator waits for nobody: the poller asks again soon. */
const DEFAULT_TIMEOUT = seconds(10)

/** An account with a hundred tokens is 10 kB. */
export const MAX_ANSWER_BYTES = 1024 * 1024

/** Does not retry: whoever polls will ask again. */
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
    return parseMirrorAnswer(text, `${base}${path}`)
  }

  return {
    exchangeRate: async () => readExchangeRate(await read('/api/v1/network/exchangerate')),
    balance: async (account) => {
      const path = `/api/v1/accounts/${encodeURIComponent(account)}?transactions=false`
      const { status, text } = await get(path)
      if (status === 200) return readAccount(parseMirrorAnswer(text, `${base}${path}`), account)
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
