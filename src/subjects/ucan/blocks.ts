/** The blocks of a CAR (content-addressed archive): every one hashed before anybody looks into it. */
import { hash } from 'node:crypto'
import { CAR, CBOR, createLink } from '@ucanto/core'
import type { Block, Link } from '@ucanto/interface'
import * as Digest from 'multiformats/hashes/digest'

export type Blocks = Map<string, Block>

export interface Archive {
  readonly root: Block
  readonly blocks: Blocks
}

/** A request of a hundred tokens is no administration. */
export const MAX_BLOCKS = 256

/** A token takes 300 bytes, and one with facts perhaps a thousand. */
export const MAX_BLOCK_BYTES = 32_768

/** Remembered blocks: a delegation comes with each of its invocations, and is decoded once. */
const MAX_REMEMBERED = 2_000

export interface Shelf {
  /** The one root and all blocks; or the rule that the bytes break. */
  read(bytes: Uint8Array): Archive | { readonly broken: string }
}

export const createShelf = (): Shelf => {
  const remembered: Blocks = new Map()

  /** The same object for the same block: ucanto remembers what it decoded by the object. */
  const known = (name: string, block: Block): Block | undefined => {
    const kept = remembered.get(name)
    if (kept !== undefined) return sameBytes(kept.bytes, block.bytes) ? kept : undefined
    if (!isHonest(block)) return undefined
    // A copy, or a remembered delegation would keep its whole request.
    const own = { cid: block.cid, bytes: Uint8Array.from(block.bytes) }
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    remembered.set(name, own)
    return own
  }

  return {
    read: (bytes) => {
      const archive = decode(bytes)
      if ('broken' in archive) return archive
      const blocks: Blocks = new Map()
      for (const [name, block] of archive.blocks) {
        if (block.bytes.length > MAX_BLOCK_BYTES) {
          return { broken: `a block must have at most ${MAX_BLOCK_BYTES} bytes` }
        }
        const honest = known(name, block)
        if (honest === undefined)
          return { broken: 'a block must be DAG-CBOR under its own SHA-256' }
        blocks.set(name, honest)
      }
      const root = blocks.get(`${archive.root.cid}`)
      return root === undefined ? { broken: 'the root must be among the blocks' } : { root, blocks }
    },
  }
}

/** A value as a block: DAG-CBOR under its SHA-256. At once, unlike ucanto's: steps may do it. */
export const toBlock = (value: unknown): Block => blockOf(CBOR.encode(value))

export const blockOf = (bytes: Uint8Array): Block => ({
  cid: createLink(CBOR.code, Digest.create(SHA_256, sha256(bytes))),
  bytes,
})

export const writeArchive = (root: Block, blocks: Iterable<Block>): Uint8Array => {
  const all: Blocks = new Map()
  for (const block of blocks) all.set(`${block.cid}`, block)
  return CAR.encode({ roots: [root], blocks: all })
}

const SHA_256 = 0x12

function decode(bytes: Uint8Array): Archive | { readonly broken: string } {
  try {
    const { roots, blocks } = CAR.decode(bytes)
    const [root, ...others] = roots
    if (root === undefined || others.length > 0) return { broken: 'a CAR must have one root' }
    if (blocks.size > MAX_BLOCKS) return { broken: `a CAR must have at most ${MAX_BLOCKS} blocks` }
    return { root, blocks }
  } catch {
    return { broken: 'the body must be a CAR' }
  }
}

/** Another codec or hash would give the same bytes a second name. */
export const isPlainLink = ({ version, code, multihash }: AnyLink): boolean =>
  version === 1 && code === CBOR.code && multihash.code === SHA_256

type AnyLink = Pick<Link<unknown, number, number, 0 | 1>, 'version' | 'code' | 'multihash'>

function isHonest({ cid, bytes }: Block): boolean {
  return isPlainLink(cid) && sameBytes(cid.multihash.digest, sha256(bytes))
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer')
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0
}
