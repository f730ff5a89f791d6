/** Walks a ledger entry by entry: numbers, hashes and anchors are checked, and what is sound is folded. */
import type { Store } from '../../core/store.ts'
import type { SpendingKeys } from '../keys.ts'
import { archiveHash, type Compacted } from './checkpoint.ts'
import type { LedgerEntry } from './entry.ts'
import { decodeEntry, hashOfEntry } from './entry-text.ts'
import type { AnchorState, Finding, FindingKind } from './finding.ts'
import { readStream } from './pages.ts'

/** A head that was kept outside the store. Without a number its hash alone is looked for. */
export interface Anchor {
  readonly number?: number | undefined
  readonly hash: string
}

/** `NUMBER:HASH` as heads are told, or the hash alone; undefined for any other text. */
export const parseAnchor = (text: string): Anchor | undefined => {
  const [, number, hash] = ANCHOR.exec(text) ?? []
  if (hash === undefined) return undefined
  return number === undefined ? { hash } : { number: Number(number), hash }
}

/** The hash is a SHA-256 in base64url. */
const ANCHOR = /^(?:(\d{1,15}):)?([\w-]{43})$/

interface ChainWalk {
  readonly findings: readonly Finding[]
  /** How many entries were read. */
  readonly count: number
  /** The last one that was read. */
  readonly number: number
  readonly hash: string
  /** Checks one text and answers the entry in it; undefined where there is none. */
  take(text: string): LedgerEntry | undefined
  /** How the anchor fared; call it at the end. */
  anchored(): AnchorState | undefined
}

/** From a checkpoint on; from the start where nothing was compacted. */
export const chainWalk = (
  from: Pick<Compacted, 'through' | 'hash'>,
  anchor?: Anchor,
): ChainWalk & { find(finding: Finding): void } => {
  const findings: Finding[] = []
  let { through: number, hash } = from
  let count = 0
  // The hash of the entry before is not known where that one is missing.
  let linked = true
  let met: AnchorState | undefined
  if (anchor !== undefined && anchor.hash === hash && hash !== '') met = 'holds'

  const find = (kind: FindingKind, what: string, ledger: string, kept: string): void => {
    findings.push({ kind, what, ledger, kept })
  }
  const meet = (seq: number, found: string): void => {
    if (anchor === undefined) return
    if (found === anchor.hash) met = 'holds'
    else if (seq === anchor.number && met === undefined) {
      met = 'broken'
      find('anchor-differs', `entry ${seq}`, anchor.hash, found)
    }
  }
  const link = ({ seq, prev }: LedgerEntry): void => {
    if (seq > number + 1) {
      find('entry-missing', spanOf(number + 1, seq - 1), 'entries', 'none')
      linked = false
    } else if (seq <= number) {
      find('entry-repeated', `entry ${seq}`, `entry ${number + 1}`, `another entry ${seq}`)
    }
    if (linked && prev !== hash) {
      find('chain-broken', `entry ${seq - 1}, or ${seq} after it`, prev || 'no hash', hash)
    }
    linked = true
    number = Math.max(number, seq)
  }
  return {
    get findings() {
      return findings
    },
    get count() {
      return count
    },
    get number() {
      return number
    },
    get hash() {
      return hash
    },
    find: (finding) => findings.push(finding),
    take: (text) => {
      count += 1
      const entry = entryIn(text)
      if (entry === undefined) {
        find('entry-unreadable', `entry ${number + 1}`, 'an entry', text.slice(0, 64))
        number += 1
      } else link(entry)
      hash = hashOfEntry(text)
      meet(number, hash)
      return entry
    },
    anchored: () => {
      if (anchor === undefined || met !== undefined) return anchor && met
      const at = anchor.number
      if (at !== undefined && at <= from.through) return 'compacted'
      const what = at === undefined ? `anchor ${anchor.hash}` : `entry ${at}`
      const cut = `a ledger that ends at entry ${number}`
      find('anchor-missing', what, anchor.hash, cut)
      return 'broken'
    },
  }
}

const spanOf = (first: number, last: number): string =>
  first === last ? `entry ${first}` : `entries ${first} to ${last}`

/** Undefined for a text that is no entry. */
export const entryIn = (text: string): LedgerEntry | undefined => {
  try {
    const entry = decodeEntry(text)
    return Number.isSafeInteger(entry.seq) ? entry : undefined
  } catch {
    return undefined
  }
}

/** Those that outlived compactions, checked against what the last one vouches for. */
export const checkArchive = async (
  store: Store,
  keys: SpendingKeys,
  { archived, archive }: Compacted,
): Promise<ArchiveRead> => {
  const entries: LedgerEntry[] = []
  let vouched = ''
  let count = 0
  for await (const { entry: text } of readStream(store, keys.archive)) {
    count += 1
    if (count > archived) continue
    vouched = archiveHash(vouched, text)
    const entry = entryIn(text)
    if (entry !== undefined) entries.push(entry)
  }
  if (count === archived && vouched === archive) return { entries, finding: undefined }
  const ledger = `${archived} entries, ${archive || 'no hash'}`
  const kept = `${count} entries, ${vouched || 'no hash'}`
  return { entries, finding: { kind: 'archive-broken', what: 'archive', ledger, kept } }
}

interface ArchiveRead {
  readonly entries: readonly LedgerEntry[]
  /** May only mean that a compaction was under way. */
  readonly finding: Finding | undefined
}
