/** A client of an Ethereum node: JSON-RPC 2.0 over HTTP, one question at a time. */
import { type Span, seconds, toMillis } from '../../core/index.ts'

export interface JsonRpc {
  /** Never rejects: to whoever asks, a node that is silent and a call that fails are one. */
  call(method: string, params: readonly unknown[]): Promise<RpcAnswer>
}

export type RpcAnswer = { readonly result: unknown } | { readonly error: string }

export interface JsonRpcOptions {
  readonly url: string
  /** For one call; a node that takes longer is as good as down. */
  readonly timeout?: Span
}

/** The answers we ask for are words of 32 bytes; a node that sends more is not asked again. */
const MAX_ANSWER_BYTES = 65_536

const PATIENCE = seconds(3)

/** A slow node must not pile up requests here: what comes beyond is not allowed. */
const MAX_CALLS = 256

export const jsonRpc = ({ url, timeout = PATIENCE }: JsonRpcOptions): JsonRpc => {
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
  const held = typeof answer === 'object' && answer !== null ? answer : {}
  if ('result' in held && !('error' in held && held.error !== null)) return { result: held.result }
  return { error: 'a call that failed' }
}
