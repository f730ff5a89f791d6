/** Asks a contract's `shouldAllowOdisRequest(bytes,bytes)` at the head of the chain. CIP-40, "Examples". */
import type { Address } from '../eip712/address.ts'
import { concat, keccakText, toHex, WORD } from '../eip712/keccak.ts'
import type { JsonRpc } from './json-rpc.ts'

export interface AccessQuestion {
  readonly chainId: number
  readonly contract: Address
  readonly domainData: Uint8Array
  readonly authorization: Uint8Array
  /** The check may not look at an older block. */
  readonly notBeforeBlock: number
}

export interface AccessController {
  /** Undefined if the contract says true; else what was found instead. */
  ask(question: AccessQuestion): Promise<string | undefined>
}

export const accessController = (rpc: JsonRpc): AccessController => ({
  ask: async (question) => {
    const chainId = await quantity(rpc, 'eth_chainId')
    if (chainId !== BigInt(question.chainId)) return `a node of chain ${chainId}`
    const head = await quantity(rpc, 'eth_blockNumber')
    if (head < BigInt(question.notBeforeBlock)) return `a node that has come to block ${head}`
    const call = { to: question.contract, data: `0x${toHex(callData(question))}` }
    // By number: behind a balancer, "latest" may be answered by a node that is further behind.
    const answer = await rpc.call('eth_call', [call, `0x${head.toString(16)}`])
    if ('error' in answer) return answer.error
    return answer.result === TRUE ? undefined : 'a contract that does not allow it'
  },
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
  return concat(
    SELECTOR,
    word(offset),
    word(offset + first.length),
    first,
    bytesArgument(authorization),
  )
}

function bytesArgument(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil(bytes.length / WORD) * WORD)
  padded.set(bytes)
  return concat(word(bytes.length), padded)
}

function word(value: number): Uint8Array {
  const bytes = new Uint8Array(WORD)
  new DataView(bytes.buffer).setUint32(WORD - 4, value)
  return bytes
}

/** A node that cannot say its number is not taken for one at block 0. */
async function quantity(rpc: JsonRpc, method: string): Promise<bigint> {
  const answer = await rpc.call(method, [])
  const text = 'result' in answer && typeof answer.result === 'string' ? answer.result : ''
  return /^0x[0-9a-f]{1,64}$/i.test(text) ? BigInt(text) : -1n
}
