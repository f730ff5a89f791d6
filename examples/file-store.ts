// A store of your own: everything in memory, and one line of JSON in a log for each commit. It passes
// the whole contract. One process at a time may have the log open, it grows until you rewrite it, and an
// answer waits for its own fsync: for many processes or much traffic use headgate/sqlite.
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Clock,
  type Commit,
  type Entry,
  HeadgateError,
  type Item,
  indexOf,
  type Store,
  StoreError,
} from 'headgate/core'
import { storeContract } from 'headgate/testing'

/** The format of the log, in its first line: a newer one is refused, not guessed at. */
const FORMAT = 1

type Line = Pick<Commit<unknown>, 'writes' | 'appends'> & {
  trim?: { stream: string; before: number }
}

function fileStore(path: string, clock: Clock, disk = { write: writeSync }): Store {
  const items = new Map<string, string>()
  const streams = new Map<string, Entry[]>()
  let position = 0
  let closed = false

  const apply = ({ writes, appends, trim }: Line): void => {
    for (const { key, value } of writes)
      value === undefined ? items.delete(key) : items.set(key, value)
    for (const { stream, entry } of appends) {
      position += 1
      streams.set(stream, [...(streams.get(stream) ?? []), { position, entry }])
    }
    if (trim === undefined) return
    const kept = (streams.get(trim.stream) ?? []).filter((one) => one.position >= trim.before)
    streams.set(trim.stream, kept)
  }

  const file = openSync(path, 'a+', 0o600)
  // A crash may have left half a line behind: it was answered to nobody.
  const text = readFileSync(path, 'utf8')
  let length = Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1))
  ftruncateSync(file, length)
  const [head, ...lines] = text.split('\n').slice(0, -1)
  for (const line of lines) apply(JSON.parse(line))

  const keep = (line: unknown): void => {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
    try {
      disk.write(file, bytes)
      fsyncSync(file)
      length += bytes.length
    } catch (cause) {
      ftruncateSync(file, length)
      throw new StoreError(
        { code: 'STORE_UNAVAILABLE', thing: path, rule: 'must be written' },
        { cause },
      )
    }
  }
  if (head === undefined) keep({ format: FORMAT })
  else if (JSON.parse(head).format !== FORMAT) {
    throw new HeadgateError({
      code: 'LOG_FORMAT',
      thing: path,
      rule: `must have format ${FORMAT}`,
      finding: head,
    })
  }

  const open = (): void => {
    if (closed)
      throw new StoreError({
        code: 'STORE_CLOSED',
        thing: path,
        rule: 'takes no calls once closed',
      })
  }
  const listed = (keys: Iterable<string>, after: string, limit: number): Item[] =>
    [...keys]
      .filter((key) => byBytes(key, after) > 0)
      .sort(byBytes)
      .slice(0, limit)
      .map((key) => ({ key, value: items.get(key) ?? '' }))

  return {
    transact: async (step, _guess, intent) => {
      open()
      // JavaScript lets nothing come between here and the end of the commit: no lock is needed.
      const commit = step({
        now: clock(),
        read: (...keys) => {
          check(...keys)
          return keys.map((key) => items.get(key))
        },
      })
      const { writes, appends, result } = commit
      if (writes.length + appends.length === 0) return result
      if (intent === 'look') throw new Error('a step that only looks writes nothing')
      if (new Set(writes.map(({ key }) => key)).size < writes.length)
        throw new Error('a key is written once')
      check(...writes.map(({ key }) => key), ...appends.map(({ stream }) => stream))
      check(
        ...writes.map(({ value = '' }) => `v${value}`),
        ...appends.map(({ entry }) => `e${entry}`),
      )
      // First on the disk, then in force, then answered.
      keep({ writes, appends })
      apply({ writes, appends })
      return result
    },
    read: async (stream, after, limit) => {
      open()
      return (streams.get(stream) ?? []).filter((one) => one.position > after).slice(0, limit)
    },
    range: async (index, after, limit) => {
      open()
      return listed(
        [...items.keys()].filter((key) => indexOf(key) === index),
        after,
        limit,
      )
    },
    scan: async (cursor, limit) => {
      open()
      const page = listed(items.keys(), cursor, limit)
      const last = page.length < limit ? undefined : page.at(-1)?.key
      return last === undefined ? { items: page } : { items: page, next: last }
    },
    trim: async (stream, before) => {
      open()
      const line: Line = { writes: [], appends: [], trim: { stream, before } }
      keep(line)
      apply(line)
    },
    partition: () => '',
    close: async () => {
      if (!closed) closeSync(file)
      closed = true
    },
  }
}

const byBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other))

/** What UTF-8 cannot hold, and what no list could show. */
function check(...texts: readonly string[]): void {
  const bad = texts.find((text) => text === '' || /\0|\p{Surrogate}/u.test(text))
  if (bad !== undefined) throw new Error(`cannot be kept: ${JSON.stringify(bad)}`)
}

// What it cannot run, and why. Everything else must hold.
const skip = {
  'a read that fails fails the call, though the step caught it and went on':
    'reads are from memory',
  'a reply that is lost after its commit is an unwell store to the caller, and the commit stays':
    'there is no network',
  'a call that carries an id and is made again after a lost reply has its effect once':
    'there is no network',
}

const cases = storeContract(
  async ({ clock }) => {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-'))
    const path = join(folder, 'store.log')
    const disk = { write: writeSync }
    const store = fileStore(path, clock, disk)
    return {
      store,
      // A second server would be a second process: here it is a second holder of the same store.
      another: async () => ({ ...store, close: async () => {} }),
      reopen: async () => fileStore(path, clock, disk),
      breakCommits: async (on) => {
        disk.write = on
          ? () => {
              throw new Error('the disk is full')
            }
          : writeSync
      },
      dispose: async () => {
        await store.close()
        rmSync(folder, { recursive: true })
      },
    }
  },
  { skip, withoutMoving: 'it is small: whoever moves it copies its file' },
)

for (const { name, run, skipped } of cases) {
  if (skipped !== undefined) console.log(`does not apply: ${name} (${skipped})`)
  else await run()
}
console.log('all others hold')
