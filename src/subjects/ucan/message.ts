/** Agent messages: what a client asks to execute, and the report that answers it. ucanto/message@7.0.0. */
import { CBOR, isLink } from '@ucanto/core'
import type { Block, Link } from '@ucanto/interface'
import { toBlock, writeArchive } from './blocks.ts'

const VERSION = 'ucanto/message@7.0.0'

/** The invocations that a message asks to execute; undefined if it is no message. */
export const readMessage = (root: Block): readonly Link[] | undefined => {
  const execute = own(own(decode(root.bytes), VERSION), 'execute')
  return Array.isArray(execute) && execute.every(isUcanLink) ? execute : undefined
}

/** The CAR that asks; `blocks` hold the invocations and all they need. */
export const writeMessage = (invocations: readonly Link[], blocks: Iterable<Block>): Uint8Array => {
  const root = toBlock({ [VERSION]: { execute: invocations } })
  return writeArchive(root, [...blocks, root])
}

/** Where the receipt for an invocation is, if the answer has one. */
export const findReceipt = (root: Block, ran: Link): Link | undefined => {
  const report = own(own(decode(root.bytes), VERSION), 'report')
  const receipt = own(report, `${ran}`)
  return isUcanLink(receipt) ? receipt : undefined
}

/** The CAR that answers a message: a receipt for each invocation, by its CID. */
export const reportReceipts = (receipts: ReadonlyMap<string, Block>): Uint8Array => {
  const report: Record<string, Block['cid']> = {}
  for (const [ran, { cid }] of receipts) report[ran] = cid
  const root = toBlock({ [VERSION]: { report } })
  return writeArchive(root, [...receipts.values(), root])
}

export function decode(bytes: Uint8Array): unknown {
  try {
    return CBOR.decode(bytes)
  } catch {
    return undefined
  }
}

export function own(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return Object.getOwnPropertyDescriptor(value, name)?.value
}

export const isUcanLink = (value: unknown): value is Link => isLink(value)
