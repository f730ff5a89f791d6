/**
 * What every store demands of the text and the commits it is handed, so that all of them keep the
 * same things. A breach is a bug of the calling pillar, which knows what its users may send.
 */
import { assert } from '../core/errors.ts'
import type { Commit, Intent, Key, RestoredStream, Write } from '../core/store.ts'

/** Keys, streams and indexes. PostgreSQL indexes nothing longer than 2,704 bytes. */
export const MAX_NAME_BYTES = 2_048

/** A value or an entry is read whole, on every decision that names it. */
export const MAX_VALUE_LENGTH = 1_048_576

/** A page is built in memory while all other calls wait. */
export const MAX_STORE_PAGE = 10_000

/** Above the largest list of rates that is imported at once: more is a runaway loop. */
export const MAX_COMMIT_WRITES = 65_536

export function checkKeys(keys: readonly Key[]): void {
  for (const key of keys) checkName('key', key)
}

export function checkCommit({ writes, appends }: Commit<unknown>, intent?: Intent): void {
  const changes = writes.length + appends.length
  assert(intent !== 'look' || changes === 0, 'a step that only looks writes nothing')
  assert(
    changes <= MAX_COMMIT_WRITES,
    () => `a commit holds at most ${MAX_COMMIT_WRITES} writes: ${changes}`,
  )
  for (const write of writes) checkWrite(write)
  // Two writes of one key have no order that a reader of the commit could rely on.
  if (writes.length > 1) {
    const distinct = new Set(writes.map(({ key }) => key)).size
    assert(distinct === writes.length, 'a commit writes a key at most once')
  }
  for (const { stream, entry } of appends) {
    checkName('stream', stream)
    checkText('entry', entry)
  }
}

/** What is put back has been checked by the store that showed it; but files can be written by hand. */
export function checkRestored(writes: readonly Write[], streams: readonly RestoredStream[]): void {
  for (const write of writes) checkWrite(write)
  for (const { stream, last, entries } of streams) {
    checkName('stream', stream)
    checkPosition(last)
    for (const { position, entry } of entries) {
      checkPosition(position)
      assert(position <= last, () => `no entry is beyond the last of its stream: ${position}`)
      checkText('entry', entry)
    }
  }
}

export function checkPage(limit: number): void {
  const whole = Number.isInteger(limit) && limit >= 1 && limit <= MAX_STORE_PAGE
  assert(whole, () => `a page holds 1 to ${MAX_STORE_PAGE}: ${limit}`)
}

export function checkPosition(position: number): void {
  const whole = Number.isSafeInteger(position) && position >= 0
  assert(whole, () => `a position is a whole number from 0: ${position}`)
}

/** The name that was checked last: a decision writes the key that it has just read. */
let lastChecked = ''

export function checkName(what: 'key' | 'stream' | 'index', name: string): void {
  if (name === lastChecked && name !== '') return
  // The empty key sorts before every page's start, so no list could show it.
  assert(name !== '', () => `the empty ${what} cannot be listed`)
  const short =
    name.length * 3 <= MAX_NAME_BYTES || new TextEncoder().encode(name).length <= MAX_NAME_BYTES
  assert(short, () => `a ${what} has at most ${MAX_NAME_BYTES} bytes: ${name.slice(0, 64)}…`)
  checkExact(what, name)
  lastChecked = name
}

function checkWrite({ key, value, expiresAt }: Write): void {
  checkName('key', key)
  if (expiresAt !== undefined) {
    assert(Number.isSafeInteger(expiresAt), () => `an expiry is whole microseconds: ${expiresAt}`)
  }
  if (value !== undefined) checkText('value', value)
}

function checkText(what: 'value' | 'entry', text: string): void {
  const short = text.length <= MAX_VALUE_LENGTH
  assert(short, () => `a ${what} has at most ${MAX_VALUE_LENGTH} characters: ${text.length}`)
  checkExact(what, text)
}

/** PostgreSQL refuses NUL, our SQLite driver cuts there, and UTF-8 has no lone surrogates. */
function checkExact(what: string, text: string): void {
  assert(!text.includes('\0'), () => `a ${what} holds no NUL`)
  assert(text.isWellFormed(), () => `a ${what} is well-formed Unicode`)
}
