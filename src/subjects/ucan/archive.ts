/**
 * CARs (content-addressed archives, version 1): every block is hashed before anything in it is read. Read
 * here and not by a library, which would decode a header of any size and accept any kind of address.
 */
import { hash } from 'node:crypto'
import { CAR, CBOR, createLink } from '@ucanto/core'
import type { Block } from '@ucanto/interface'
import * as Digest from 'multiformats/hashes/digest'
import { countNodes, decodeCbor, isBlockLink, isPlainLink, ownField, SHA_256 } from './cbor.ts'
import type { WorkMeter } from './work.ts'

export const CAR_TYPE = 'application/vnd.ipld.car'

/** By CID. */
export type ArchiveBlocks = Map<string, Block>

export interface Archive {
  readonly root: Block
  readonly blocks: ArchiveBlocks
}

interface ArchiveBounds {
  readonly blocks: number
  readonly blockBytes: number
}

/** A request of an administrator holds a few tokens, and never hundreds. */
export const MAX_BLOCKS = 256

/** A token takes 300 bytes, and one with facts perhaps a thousand. */
const MAX_BLOCK_BYTES = 8_192

/** What comes from anyone. */
const MESSAGE_BOUNDS: ArchiveBounds = { blocks: MAX_BLOCKS, blockBytes: MAX_BLOCK_BYTES }

/** What comes from the service that was asked: a receipt may hold a page of a thousand rates. */
export const REPLY_BOUNDS: ArchiveBounds = { blocks: MAX_BLOCKS, blockBytes: 16_777_216 }

/** The one root and all blocks; or the rule that the bytes break. Throws `WorkExceeded`. */
export const readArchive = (
  bytes: Uint8Array,
  work: Pick<WorkMeter, 'spend'>,
  bounds: ArchiveBounds = MESSAGE_BOUNDS,
): Archive | { readonly broken: string } => {
  const sections = readSections(bytes, bounds)
  if ('broken' in sections) return sections
  const blocks: ArchiveBlocks = new Map()
  for (const section of sections.rest) {
    const [digest, content] = [
      section.subarray(ADDRESS.length, ADDRESS_BYTES),
      section.subarray(ADDRESS_BYTES),
    ]
    work.spend('hashed', content.length)
    if (!startsWith(section, ADDRESS) || !sameBytes(digest, sha256(content))) {
      return { broken: 'a block must be DAG-CBOR under its own SHA-256' }
    }
    const found = countNodes(content)
    if (found === undefined) return { broken: 'a block must hold one value in DAG-CBOR' }
    work.spend('nodes', found)
    const block = { cid: linkTo(digest), bytes: content }
    blocks.set(`${block.cid}`, block)
  }
  const root = blocks.get(sections.root)
  return root === undefined ? { broken: 'the root must be among the blocks' } : { root, blocks }
}

export const writeArchive = (root: Block, blocks: Iterable<Block>): Uint8Array => {
  const all: ArchiveBlocks = new Map()
  for (const block of blocks) all.set(`${block.cid}`, block)
  return CAR.encode({ roots: [root], blocks: all })
}

/** A value as a block: DAG-CBOR under its SHA-256. Synchronous, unlike ucanto's: steps may call it. */
export const toBlock = (value: unknown): Block => blockOf(CBOR.encode(value))

export const blockOf = (bytes: Uint8Array): Block => ({ cid: linkTo(sha256(bytes)), bytes })

/** How the address of every block begins: CID version 1, DAG-CBOR, SHA-256 of 32 bytes. */
const ADDRESS = [0x01, CBOR.code, SHA_256, 0x20]
const ADDRESS_BYTES = ADDRESS.length + 32

/** One root and the version take 59 bytes. */
const MAX_HEADER_BYTES = 128

interface Sections {
  /** By CID. */
  readonly root: string
  /** An address and the bytes it is for. */
  readonly rest: readonly Uint8Array[]
}

function readSections(
  bytes: Uint8Array,
  bounds: ArchiveBounds,
): Sections | { readonly broken: string } {
  const rest: Uint8Array[] = []
  let header: Uint8Array | undefined
  for (let at = 0; at < bytes.length; ) {
    const length = readLength(bytes, at)
    if (length === undefined) return { broken: 'the body must be a CAR' }
    const section = bytes.subarray(at + length.size, at + length.size + length.value)
    if (section.length < length.value) return { broken: 'the body must be a CAR' }
    at += length.size + length.value
    if (header === undefined) {
      header = section
      continue
    }
    if (section.length > ADDRESS_BYTES + bounds.blockBytes) {
      return { broken: `a block must have at most ${bounds.blockBytes} bytes` }
    }
    if (rest.length >= bounds.blocks) {
      return { broken: `a CAR must have at most ${bounds.blocks} blocks` }
    }
    rest.push(section)
  }
  const root = header === undefined ? undefined : readHeader(header)
  return root === undefined ? { broken: 'the body must be a CAR with one root' } : { root, rest }
}

function readHeader(bytes: Uint8Array): string | undefined {
  if (bytes.length > MAX_HEADER_BYTES || countNodes(bytes) === undefined) return undefined
  const header = decodeCbor(bytes)
  const roots = ownField(header, 'roots')
  if (ownField(header, 'version') !== 1 || !Array.isArray(roots)) return undefined
  const [root, ...others]: unknown[] = roots
  return isBlockLink(root) && isPlainLink(root) && others.length === 0 ? `${root}` : undefined
}

/** Four bytes of a varint tell more than any body of ours holds. */
const MAX_VARINT_BYTES = 4

function readLength(bytes: Uint8Array, at: number) {
  let value = 0
  for (let size = 1; size <= MAX_VARINT_BYTES; size++) {
    const byte = bytes[at + size - 1]
    if (byte === undefined) return undefined
    value += (byte & 127) * 128 ** (size - 1)
    if (byte < 128) return { value, size }
  }
  return undefined
}

const linkTo = (digest: Uint8Array): Block['cid'] =>
  createLink(CBOR.code, Digest.create(SHA_256, digest))

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer')
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return prefix.every((byte, index) => bytes[index] === byte)
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0
}
