/**
 * An export verified without the store that it came from. It tells apart an edit (a line has not the hash that it says),
 * a cut (lines are missing), a compaction (lines are missing, and a checkpoint in the chain vouches for
 * them), and, given an anchor, a chain that was made anew. What operators did outlives compactions: the
 * newest checkpoint says how many such lines there are before it, and their hash.
 */
import { parseTimestamp } from '../../lib/moments.ts'
import { familyOf } from '../flow/ask.ts'
import type { Party } from '../flow/balances.ts'
import { readMoney } from '../money-json.ts'
import { archiveHash, type Checkpoint } from './checkpoint.ts'
import { type LedgerEntry, outlivesCompaction } from './entry.ts'
import { encodeEntry, hashOfEntry } from './entry-text.ts'
import type {
  AnchorState,
  ExportFinding,
  ExportFindingKind,
  ExportVerification,
} from './finding.ts'
import type { Anchor } from './walk.ts'

interface Gap {
  readonly line: number
  readonly first: number
  readonly last: number
  /** The hash that the entry after it says the last of it has. */
  readonly hash: string
}

/** Lines of JSON as `ledger export` writes them. CSV is for spreadsheets and cannot be verified. */
export const verifyExport = async (
  lines: AsyncIterable<string> | Iterable<string>,
  anchor?: Anchor,
): Promise<ExportVerification> => {
  const findings: ExportFinding[] = []
  const gaps: Gap[] = []
  const checkpoints: Checkpoint[] = []
  const outlived: Outlived[] = []
  let [number, hash, line] = [0, '', 0]
  let met: AnchorState | undefined
  let entries = 0
  const find = (kind: ExportFindingKind, what: string) => findings.push({ kind, line, what })
  for await (const text of lines) {
    line += 1
    const found = lineIn(text)
    if (found === undefined) {
      find('edited', 'no entry of a ledger')
      continue
    }
    const { entry, said } = found
    entries += 1
    if (entry.seq > number + 1) {
      gaps.push({ line, first: number + 1, last: entry.seq - 1, hash: entry.prev })
    } else if (entry.prev !== hash || entry.seq <= number) {
      find('edited', `entry ${entry.seq} does not follow the line before it`)
    }
    hash = hashOfEntry(encodeEntry(entry))
    if (said !== hash) find('edited', `entry ${entry.seq} has not the hash that it says`)
    number = entry.seq
    if (entry.checkpoint !== undefined) checkpoints.push(entry.checkpoint)
    if (outlivesCompaction(entry)) outlived.push(nextOutlived(outlived.at(-1), entry, line))
    if (anchor?.hash === hash) met = 'holds'
    else if (anchor?.number === number && met === undefined) {
      met = 'broken'
      find('re-chained', `entry ${number} has the hash ${hash}, not the anchor's`)
    }
  }
  const newest = checkpoints.at(-1)
  const through = newest?.through ?? 0
  findings.push(...gaps.filter((gap) => !isVouchedFor(gap, newest)).map(cutOf))
  if (newest !== undefined) findings.push(...archiveFindings(newest, outlived))
  if (anchor !== undefined && met === undefined) {
    met = anchorAway(anchor, newest, number)
    if (met === 'broken') {
      const what = `it ends at entry ${number}, and the anchor is not in it`
      findings.push({ kind: 'cut', line: line + 1, what })
    }
  }
  return { entries, findings, compactedThrough: through, head: { number, hash }, anchor: met }
}

/** The last gap ends where the checkpoint says, with the hash that it says; those before lie within it. */
function isVouchedFor({ last, hash }: Gap, newest: Checkpoint | undefined): boolean {
  if (newest === undefined || last > newest.through) return false
  return last < newest.through || hash === newest.hash
}

/** A line that outlives compactions, and what an archive up to it would come to. */
interface Outlived {
  readonly line: number
  readonly seq: number
  readonly count: number
  readonly hash: string
}

const nextOutlived = (
  { count, hash }: Pick<Outlived, 'count' | 'hash'> = { count: 0, hash: '' },
  entry: LedgerEntry,
  line: number,
): Outlived => ({
  line,
  seq: entry.seq,
  count: count + 1,
  hash: archiveHash(hash, encodeEntry(entry)),
})

/** Between such lines nothing links one to the next, so only all of them together can be checked. */
function archiveFindings(
  { through, archived, archive }: Checkpoint,
  outlived: readonly Outlived[],
): readonly ExportFinding[] {
  const last = outlived.findLast(({ seq }) => seq <= through)
  const { line, count, hash } = last ?? { line: 1, count: 0, hash: '' }
  if (count === archived && hash === archive) return []
  const vouched = `the checkpoint up to entry ${through} vouches for ${archived} lines of operators`
  return count < archived
    ? [{ kind: 'cut', line, what: `${vouched}, and ${count} are there` }]
    : [{ kind: 'edited', line, what: `${vouched}, and one up to here is not of them` }]
}

const cutOf = ({ line, first, last }: Gap): ExportFinding => ({
  kind: 'cut',
  line,
  what: first === last ? `entry ${first} is missing` : `entries ${first} to ${last} are missing`,
})

function anchorAway(anchor: Anchor, newest: Checkpoint | undefined, last: number): AnchorState {
  if (newest === undefined) return 'broken'
  if (anchor.hash === newest.hash) return 'holds'
  return anchor.number !== undefined && anchor.number <= Math.min(newest.through, last)
    ? 'compacted'
    : 'broken'
}

interface LineRead {
  readonly entry: LedgerEntry
  readonly said: unknown
}

/** Undefined for a text that no export wrote. */
function lineIn(text: string): LineRead | undefined {
  try {
    const { hash: said, at, window, party, ...rest } = readMoney<ExportedLine>(text)
    const [then, start] = [parseTimestamp(at), parseTimestamp(window)]
    if (then === undefined || start === undefined) return undefined
    const entry: LedgerEntry = { ...rest, at: then, window: start }
    return { entry: party === undefined ? entry : { ...entry, party: withoutFamily(party) }, said }
  } catch {
    return undefined
  }
}

/** For readers, where the operation says it. */
function withoutFamily(told: Party): Party {
  const { family, ...party } = told
  return family === familyOf(party.operation) ? party : told
}

interface ExportedLine extends Omit<LedgerEntry, 'at' | 'window' | 'party'> {
  readonly hash: string
  readonly at: string
  readonly window: string
  readonly party?: Party
}
