/** Calls a contract's `shouldAllowOdisRequest(bytes,bytes)` at the head of its chain. CIP-40, "Examples". */
import { concatBytes } from '@noble/hashes/utils.js'
import { HeadgateError } from '../../core/errors.ts'
import { type Span, seconds, toMillis } from '../../core/time.ts'
import { type EthereumAddress, keccakText, numberWord, toHex, WORD } from '../eip712/ethereum.ts'

export interface AccessQuestion {
  readonly chainId: number
  readonly contract: EthereumAddress
  readonly domainData: Uint8Array
  readonly authorization: Uint8Array
  /** The check may not look at an older block. */
  readonly notBeforeBlock: number
}

export interface AccessController {
  /**
   * Undefined if the contract says true; else what was found instead. Rejects with a `ChainError` where
   * the chain could not be asked: that says nothing about who asks.
   */
  ask(question: AccessQuestion): Promise<string | undefined>
}

export const accessController = (rpc: JsonRpc): AccessController => ({
  ask: async (question) => {
    const chainId = await quantity(rpc, 'eth_chainId')
    if (chainId !== BigInt(question.chainId)) return `a node of chain ${chainId}`
    const head = await quantity(rpc, 'eth_blockNumber')
    if (head < BigInt(question.notBeforeBlock)) throw behind(question.notBeforeBlock, head)
    const call = { to: question.contract, data: `0x${toHex(callData(question))}` }
    // By number: behind a balancer "latest" may come from another node that is further behind.
    const answer = await rpc.call('eth_call', [call, `0x${head.toString(16)}`])
    if ('reverted' in answer) return 'a contract that reverts'
    if ('error' in answer) throw chainDown('eth_call', answer.error)
    return answer.result === TRUE ? undefined : 'a contract that does not allow it'
  },
})

/** Each has a heading in docs/reference/errors.md. */
export type ChainErrorCode = 'CHAIN_DOWN' | 'CHAIN_BEHIND'

/** The chain cannot be asked now. The request is not to blame, and a later one may succeed. */
export class ChainError extends HeadgateError<ChainErrorCode> {
  override readonly name = 'ChainError'
}

const chainDown = (method: string, finding: string): ChainError =>
  new ChainError({
    code: 'CHAIN_DOWN',
    thing: 'the node of the chain',
    rule: `must answer ${method}`,
    finding,
  })

const behind = (wanted: number, head: bigint): ChainError =>
  new ChainError({
    code: 'CHAIN_BEHIND',
    thing: 'the node of the chain',
    rule: `must have come to block ${wanted}`,
    finding: `block ${head}`,
  })

const SELECTOR = keccakText('shouldAllowOdisRequest(bytes,bytes)').subarray(0, 4)

/** A bool as the ABI returns it: one word, and nothing after it. */
const TRUE = `0x${'1'.padStart(64, '0')}`

/** Contract ABI, "Formal Specification of the Encoding": two offsets, then each length and its padded bytes. */
export const callData = ({
  domainData,
  authorization,
}: Pick<AccessQuestion, 'domainData' | 'authorization'>): Uint8Array => {
  const first = bytesArgument(domainData)
  const offset = 2 * WORD
  return concatBytes(
    SELECTOR,
    numberWord(offset),
    numberWord(offset + first.length),
    first,
    bytesArgument(authorization),
  )
}

function bytesArgument(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil(bytes.length / WORD) * WORD)
  padded.set(bytes)
  return concatBytes(numberWord(bytes.length), padded)
}

async function quantity(rpc: JsonRpc, method: string): Promise<bigint> {
  const answer = await rpc.call(method, [])
  if (!('result' in answer)) throw chainDown(method, 'error' in answer ? answer.error : 'a revert')
  const { result } = answer
  if (typeof result === 'string' && /^0x[0-9a-f]{1,64}$/i.test(result)) return BigInt(result)
  throw chainDown(method, 'no number')
}

// A client of an Ethereum node: JSON-RPC 2.0 over HTTP.

export interface JsonRpc {
  /** Never rejects: a node that does not answer and a call that fails mean the same to the caller. */
  call(method: string, params: readonly unknown[]): Promise<RpcAnswer>
}

export type RpcAnswer =
  | { readonly result: unknown }
  /** The node ran the contract, and the contract ended the call. */
  | { readonly reverted: true }
  /** Anything else: no answer, or one that says nothing about the contract. Never the node's own text. */
  | { readonly error: string }

export interface JsonRpcOptions {
  readonly url: string
  /** For one call. Default 3 s. */
  readonly timeout?: Span
}

/** The results we ask for are words of 32 bytes; reading stops at a longer answer. */
const MAX_ANSWER_BYTES = 65_536

const DEFAULT_TIMEOUT = seconds(3)

/** A slow node must not pile up requests here: more are refused. */
const MAX_CALLS = 256

export const jsonRpc = ({ url, timeout = DEFAULT_TIMEOUT }: JsonRpcOptions): JsonRpc => {
  let id = 0
  let open = 0
  return {
    call: async (method, params) => {
      if (open >= MAX_CALLS) return { error: 'too many calls at once' }
      id += 1
      open += 1
      try {
        return read(await post(url, { jsonrpc: '2.0', id, method, params }, timeout))
      } catch {
        return { error: 'no answer from the node' }
      } finally {
        open -= 1
      }
    },
  }
}

async function post(url: string, question: object, timeout: Span): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(question),
    redirect: 'error',
    signal: AbortSignal.timeout(toMillis(timeout)),
  })
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function read(text: string): RpcAnswer {
  const answer: unknown = JSON.parse(text)
  const { result, error }: { result?: unknown; error?: unknown } = Object(answer)
  if (error === undefined || error === null) {
    return result === undefined ? { error: 'neither a result nor an error' } : { result }
  }
  const { code, message }: { code?: unknown; message?: unknown } = Object(error)
  if (isRevert(code, message)) return { reverted: true }
  return { error: Number.isInteger(code) ? `error ${code}` : 'an error without a code' }
}

/** EIP-1474 leaves open how a failed call is told: 3 is that of Geth, -32015 that of Parity and its heirs. */
const REVERT_CODES: readonly unknown[] = [3, -32_015]

/** Older nodes say -32000 for everything, and only the text tells a contract that fails from a node that does. */
const REVERT_TEXT = /revert|invalid opcode|out of gas|invalid jump|stack (?:under|over)flow/i

const isRevert = (code: unknown, message: unknown): boolean =>
  REVERT_CODES.includes(code) || (typeof message === 'string' && REVERT_TEXT.test(message))
