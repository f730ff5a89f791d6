/** Messages of someone who has no key that counts: bytes, archives, values and tokens bent in every place. */
import { CBOR, createLink, Delegation, invoke } from '@ucanto/core'
import type { Block, Link, Signer } from '@ucanto/interface'
import { CID } from 'multiformats/cid'
import * as Digest from 'multiformats/hashes/digest'
import { identity as identityHash } from 'multiformats/hashes/identity'
import { blockOf, toBlock, writeArchive } from '../../src/subjects/ucan/archive.ts'
import { writeMessage } from '../../src/subjects/ucan/message.ts'
import type { Random } from './random.ts'
import { newKey } from './ucan.ts'

/** What a stranger has: real delegations to others, which are no secret, and tokens of keys of its own. */
interface Loot {
  readonly owner: Signer
  readonly stranger: Signer
  readonly grants: readonly Block[]
  readonly own: readonly Block[]
  readonly invocations: readonly Block[]
  readonly rsa: Block
}

type Kind = (loot: Loot, random: Random) => Uint8Array

/** Answers a maker of hostile messages, which needs no signature for any of them. */
export const hostileCars = async (owner: Signer): Promise<(random: Random) => Uint8Array> => {
  const loot = await gather(owner)
  return (random) => random.pick(KINDS)(loot, random)
}

async function gather(owner: Signer): Promise<Loot> {
  const [agent, stranger] = [await newKey(), await newKey()]
  const forever = { expiration: Number.POSITIVE_INFINITY }
  const grant = (issuer: Signer, audience: Signer, n: number) =>
    Delegation.delegate({
      issuer,
      audience,
      capabilities: [{ can: 'rate-limit/*', with: owner.did() }],
      facts: [{ n }],
      ...forever,
    })
  const many = Array.from({ length: 12 }, (_, n) => n)
  const grants = await Promise.all(many.map((n) => grant(owner, agent, n)))
  const own = await Promise.all(many.map((n) => grant(stranger, stranger, n)))
  const invocations = await Promise.all(
    many.map((n) => {
      const proofs = [...grants, ...own].slice(n, n + (n % 4))
      const capability =
        n % 3 === 0
          ? { can: 'ucan/revoke', with: stranger.did(), nb: { ucan: grants[n]?.cid } }
          : { can: 'rate-limit/add', with: owner.did(), nb: { subject: 'a.test', rate: 0 } }
      const asked = { issuer: stranger, audience: owner, nonce: `${n}`, ...forever }
      return invoke({ ...asked, capability: Object(capability), proofs }).delegate()
    }),
  )
  const rsa = toBlock({ ...modelOf(root(grants[0])), iss: Uint8Array.of(0x85, 0x24, 1, 2, 3) })
  return {
    owner,
    stranger,
    grants: grants.map(root),
    own: own.map(root),
    invocations: invocations.map(root),
    rsa,
  }
}

const root = (delegation: { readonly root: Block } | undefined): Block => Object(delegation).root

const modelOf = (block: Block): Record<string, unknown> => Object(CBOR.decode(block.bytes))

const linkOf = ({ cid }: Block): Link => Object(cid)

const bytesOf = (length: number, random: Random): Uint8Array =>
  Uint8Array.from({ length }, () => random.below(256))

const several = <T>(most: number, random: Random, make: (index: number) => T): readonly T[] =>
  Array.from({ length: 1 + random.below(most) }, (_, index) => make(index))

/** A message as its sender would write it, of what it has. */
const honest: Kind = ({ grants, own, invocations }, random) => {
  const asked = several(random.below(40) === 0 ? 40 : 3, random, () => random.pick(invocations))
  return writeMessage(asked.map(linkOf), [...asked, ...grants, ...own])
}

const flipped: Kind = (loot, random) => {
  const bytes = Uint8Array.from(honest(loot, random))
  for (let n = 1 + random.below(4); n > 0; n--)
    bytes[random.below(bytes.length)] = random.below(256)
  return bytes
}

const spliced: Kind = (loot, random) => {
  const [one, other] = [honest(loot, random), honest(loot, random)]
  const parts = [
    one.subarray(0, random.below(one.length)),
    ...(random.below(2) === 0 ? [] : [bytesOf(random.below(64), random)]),
    ...(random.below(2) === 0 ? [] : [other.subarray(random.below(other.length))]),
  ]
  return Uint8Array.from(Buffer.concat(parts))
}

/** Lengths that lie, that are too long, or that do not end. */
const lyingLengths: Kind = (loot, random) => {
  const bytes = honest(loot, random)
  const lengths = [
    [0x00],
    [0x80, 0x00],
    [0xff, 0xff, 0xff, 0x7f],
    Array.from({ length: 12 }, () => 0xff),
    [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
    [random.below(256), random.below(128)],
  ]
  return Uint8Array.from([...random.pick(lengths), ...bytes.subarray(random.below(3))])
}

const withHeader = (header: unknown, rest: Uint8Array): Uint8Array => {
  const bytes = header instanceof Uint8Array ? header : CBOR.encode(header)
  return Uint8Array.from([...varint(bytes.length), ...bytes, ...rest])
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(Math.floor(value / 128))]
}

/** No root, many, another's, none that is there; another version; and headers that are no header. */
const strangeHeaders: Kind = (loot, random) => {
  const bytes = honest(loot, random)
  const rest = bytes.subarray(1 + (bytes[0] ?? 0))
  const grant = linkOf(random.pick(loot.grants))
  const inline = CID.createV1(CBOR.code, identityHash.digest(bytesOf(20, random)))
  const raw = CID.createV1(0x55, CID.parse(`${grant}`).multihash)
  const headers = [
    { version: 1, roots: [] },
    { version: 1, roots: Array.from({ length: 1 + random.below(300) }, () => grant) },
    { version: 1, roots: [linkOf(toBlock({ n: random.below(1_000) }))] },
    { version: 1, roots: [inline] },
    { version: 1, roots: [raw] },
    { version: 1, roots: [random.below(9)] },
    { version: 2, roots: [grant] },
    { version: '1', roots: grant },
    null,
    [],
    junk(random),
  ]
  return withHeader(random.pick(headers), rest)
}

/** Blocks under a name that is not their hash, of another kind, or that holds them. */
const wrongNames: Kind = ({ grants, invocations }, random) => {
  const victim = random.pick([...grants, ...invocations])
  const digest = bytesOf(32, random)
  const names: readonly Link[] = [
    Object(createLink(CBOR.code, Digest.create(0x12, digest))),
    Object(CID.createV1(0x55, CID.parse(`${victim.cid}`).multihash)),
    Object(CID.createV1(CBOR.code, identityHash.digest(victim.bytes))),
    Object(CID.createV1(CBOR.code, Digest.create(0x13, bytesOf(64, random)))),
    linkOf(random.pick(grants)),
  ]
  const cid = random.pick(names)
  const named = { cid: Object(cid), bytes: victim.bytes }
  const asked = random.below(2) === 0 ? cid : linkOf(random.pick(invocations))
  return writeMessage([asked], [...invocations, named])
}

/** Bytes that are CBOR in part, or that unfold. */
function junk(random: Random): Uint8Array {
  const size = 1 + random.below(8_000)
  const fill = (byte: number) => new Uint8Array(size).fill(byte)
  const list = Uint8Array.from([
    0x99,
    size >> 8,
    size & 255,
    ...fill(random.pick([0xa0, 0x80, 0xf6])),
  ])
  return random.pick([
    fill(0x81),
    fill(0xa1),
    fill(0xd8),
    list,
    Uint8Array.from([0x9b, 0, 0, 1, ...bytesOf(5, random)]),
    Uint8Array.from([0xbb, 0, 0, 0, 0, 0, 1, 0, 0]),
    Uint8Array.from([0x7b, 0xff, ...bytesOf(7, random)]),
    Uint8Array.from([0x9f, 0x01, 0xff]),
    Uint8Array.from([0xbf, 0xff]),
    Uint8Array.from([0xc0 + random.below(32), 0x00]),
    Uint8Array.from([0xd8, 0x2a, 0x58, 0x25, 0x00, ...bytesOf(36, random)]),
    Uint8Array.from([0xa2, 0x61, 0x61, 0x01, 0x61, 0x61, 0x02]),
    Uint8Array.from([0xfb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0]),
    Uint8Array.from([0x1b, ...bytesOf(8, random)]),
    bytesOf(random.below(200), random),
    new Uint8Array(0),
  ])
}

/** Honestly named, and of any content: as the root, as an invocation, or beside it. */
const strangeBlocks: Kind = ({ invocations }, random) => {
  const blocks = several(random.below(20) === 0 ? 260 : 4, random, () => blockOf(junk(random)))
  const block = random.pick(blocks)
  if (random.below(2) === 0) return writeArchive(block, blocks)
  const asked = random.below(2) === 0 ? [linkOf(block)] : [linkOf(random.pick(invocations))]
  return writeMessage(asked, [...blocks, ...invocations])
}

/** A section more, whose address is of version 0, cut, or absent. */
const strangeSections: Kind = (loot, random) => {
  const { bytes } = random.pick(loot.grants)
  const address = random.pick([
    [0x12, 0x20, ...bytesOf(32, random)],
    [0x01, 0x71, 0x12, 0x20, ...bytesOf(random.below(32), random)],
    [0x01, 0x71, 0x00, 0xff, 0xff, 0x03],
    [],
  ])
  const section = [...address, ...(random.below(2) === 0 ? [] : bytes)]
  return Uint8Array.from([...honest(loot, random), ...varint(section.length), ...section])
}

const strangeMessages: Kind = ({ invocations }, random) => {
  const links = invocations.map(linkOf)
  const execute = random.pick<unknown>([
    [],
    null,
    'x',
    links,
    [...links, 'x'],
    Array.from({ length: random.below(2_000) }, () => random.pick(links)),
    several(60, random, (n) => linkOf(toBlock({ n }))),
    [links],
    {},
    Array.from({ length: random.below(3_000) }, () => ({})),
  ])
  const name = random.pick(['ucanto/message@7.0.0', 'ucanto/message@0.6.0', 'constructor'])
  const message = toBlock({ [name]: random.below(9) === 0 ? execute : { execute } })
  return writeArchive(message, [message, ...invocations])
}

/** Fields of a token as its sender pleases, under a signature of something else. */
const strangeField = ({ grants, own, rsa }: Loot, random: Random): object => {
  const key = (length: number) => Uint8Array.from([0xed, 0x01, ...bytesOf(length, random)])
  const links = [...grants, ...own, rsa].map(linkOf)
  const capability = () => ({
    can: 'rate-limit/list',
    with: 'did:key:zNobody',
    nb: { subject: 'x' },
  })
  const times = random.pick([1, 2, 16, 33, 64, 300])
  return random.pick<() => object>([
    () => ({ iss: key(random.pick([0, 31, 33, 400, 7_000])) }),
    () => ({ aud: key(random.pick([0, 31, 33, 400, 7_000])) }),
    () => ({ iss: Uint8Array.from([0x9d, 0x1a, ...bytesOf(random.below(600), random)]) }),
    () => ({ iss: Uint8Array.from([0x85, 0x24, ...bytesOf(270, random)]) }),
    () => ({ iss: 'did:key:zNobody', aud: null }),
    () => ({ att: Array.from({ length: times }, capability) }),
    () => ({ att: [{ ...capability(), nb: random.pick<unknown>([null, [], 'x', 1, { a: {} }]) }] }),
    () => ({
      att: [{ can: random.pick(['*', 'x', '/', 'a/'.repeat(999)]), with: 'x'.repeat(999) }],
    }),
    () => ({ prf: Array.from({ length: times }, () => random.pick(links)) }),
    () => ({ prf: [Object(CID.createV1(CBOR.code, identityHash.digest(bytesOf(99, random))))] }),
    () => ({ fct: Array.from({ length: random.below(4_000) }, () => ({})) }),
    () => ({ fct: [{ text: '\u0000'.repeat(random.below(6_000)) }] }),
    () => ({ exp: random.pick<unknown>([null, -1, 0, 1.5, 2 ** 53, 2n ** 60n, 'soon', []]) }),
    () => ({ nbf: random.pick<unknown>([null, -1, 0, 1.5, 2 ** 53, 2n ** 60n, 'soon', []]) }),
    () => ({ nnc: random.pick<unknown>(['', 'x', 1, 'n'.repeat(random.below(5_000))]) }),
    () => ({ s: bytesOf(random.below(80), random) }),
    () => ({ s: Uint8Array.from([0xed, 0xa1, 0x03, 0x40, ...bytesOf(64, random)]) }),
    () => ({ s: Uint8Array.from([0x80, 0xa0, 0x03, 0x04, 1, 2, 3, 4, ...bytesOf(40, random)]) }),
    () => ({ v: random.pick<unknown>(['0.9.1', '9.9.9', 'x', 1, '1.1.1'.repeat(200)]) }),
    () => ({ padding: random.below(1_000_000) }),
  ])()
}

const strangeTokens: Kind = (loot, random) => {
  const { grants, own, invocations } = loot
  const bent = several(8, random, () => {
    const model = modelOf(random.pick([...grants, ...own, ...invocations]))
    return toBlock({ ...model, ...strangeField(loot, random) })
  })
  const invocation = toBlock({
    ...modelOf(random.pick(invocations)),
    prf: several(16, random, () => linkOf(random.pick([...bent, ...grants, ...own]))),
  })
  return writeMessage([...bent, invocation].map(linkOf), [...bent, invocation, ...grants, ...own])
}

/** Grants of the service that it never signed, as many as fit, each a signature to be checked. */
const forgedGrants: Kind = ({ grants, invocations }, random) => {
  const wide = 1 + random.below(12)
  const forged = several(180, random, (n) =>
    toBlock({ ...modelOf(random.pick(grants)), nnc: `${n}` }),
  )
  const asked = several(20, random, (n) => {
    const prf = Array.from({ length: wide }, () => linkOf(random.pick(forged)))
    const aud = modelOf(random.pick(grants))['aud']
    return toBlock({ ...modelOf(random.pick(invocations)), iss: aud, prf, nnc: `${n}` })
  })
  return writeMessage(asked.map(linkOf), [...forged, ...asked])
}

/** Levels of tokens, each with all of the level above as its proofs. */
const bombs: Kind = ({ grants, invocations, own }, random) => {
  const [wide, deep] = [1 + random.below(12), 1 + random.below(16)]
  const top = random.below(2) === 0 ? grants : own
  let level = top.slice(0, wide)
  const all = [...level]
  for (let depth = 0; depth < deep; depth++) {
    const prf = level.map(linkOf)
    const { aud: iss, att } = modelOf(random.pick(level))
    const aud = modelOf(random.pick(level))['aud']
    level = level.map((_, n) =>
      toBlock({ ...modelOf(random.pick(own)), iss, aud, att, prf, nnc: `${depth} ${n}` }),
    )
    all.push(...level)
  }
  const { aud } = modelOf(random.pick(level))
  const model = { ...modelOf(random.pick(invocations)), iss: aud, prf: level.map(linkOf) }
  const asked = several(8, random, (n) => toBlock({ ...model, nnc: `${n}` }))
  return writeMessage(asked.map(linkOf), [...all, ...asked])
}

const noise: Kind = (_, random) => bytesOf(random.below(300), random)

/** The last two take longer to write than all others: they come less often. */
const KINDS: readonly Kind[] = [
  ...[honest, flipped, spliced, lyingLengths, strangeHeaders, wrongNames, strangeSections],
  ...[strangeBlocks, strangeMessages, strangeTokens, strangeTokens, noise],
  ...[honest, flipped, spliced, lyingLengths, strangeHeaders, wrongNames, strangeSections],
  ...[strangeBlocks, strangeMessages, strangeTokens, strangeTokens, noise],
  ...[forgedGrants, bombs],
]
