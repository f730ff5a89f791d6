/** Opens, checks and copies the store that a URL names. The only place that knows every kind of store. */
import { existsSync } from 'node:fs'
import { HeadgateError, StoreError } from '../../core/errors.ts'
import type { Store } from '../../core/store.ts'
import { seconds } from '../../core/time.ts'
import { systemClock, uptime } from '../../lib/clock.ts'
import { memory } from '../../stores/memory/index.ts'
import { movingMistake } from '../../stores/moving/errors.ts'
import type { RedisStore } from '../../stores/redis/index.ts'
import type { StoreEvent } from '../../stores/remote/line.ts'
import type { GroupSent } from '../../stores/remote/optimist.ts'
import type { SharedStore } from '../../stores/remote/shared-store.ts'
import { backupSqlite, inspectSqlite, type SqliteBackup } from '../../stores/sqlite/backup.ts'
import { type CommittedGroup, sqlite } from '../../stores/sqlite/index.ts'
import { refuseConfig } from '../config/config-mistake.ts'
import { describeStoreUrl, parseStoreUrl } from '../config/store-url.ts'

interface OpenStoreOptions {
  /** Called after each commit that reached a disk, or a server. */
  readonly onCommit?: (group: CommittedGroup) => void
  /** Of a server: told how its round trips go. */
  readonly observe?: (event: StoreEvent) => void
  /** Of a server: told what became of each that was to commit. */
  readonly onGroup?: (group: GroupSent) => void
  /** Where an answer may take longer than a decision may: a store is moved. */
  readonly patient?: boolean
  /** It will only be looked at: then a SQLite file is opened without the lock that writing takes. */
  readonly onlyLooks?: boolean
  /** It will keep money or attempts at PINs: a Redis that may lose them is refused. */
  readonly mustKeep?: boolean
}

/** Servers are loaded only where one is named. */
export const openStore = async (
  url: string,
  {
    onCommit,
    observe,
    onGroup,
    mustKeep = false,
    onlyLooks = false,
    patient = false,
  }: OpenStoreOptions = {},
): Promise<Store> => {
  const address = parseStoreUrl(url)
  const more = {
    ...(observe && { observe }),
    onGroup: (group: GroupSent) => {
      onCommit?.(group)
      onGroup?.(group)
    },
    ...(patient && { timeout: PATIENCE }),
  }
  switch (address.kind) {
    case 'memory':
      return memory()
    case 'sqlite':
      return onlyLooks
        ? openToLook(address.path)
        : sqlite({ path: address.path, ...(onCommit && { onCommit }) })
    case 'redis': {
      const { redis } = await import('../../stores/redis/index.ts')
      const store = redis({ url: address.url, ...more })
      return checked(store, mustKeep ? () => refuseLosses(store) : undefined)
    }
    case 'postgres': {
      const { postgres } = await import('../../stores/postgres/index.ts')
      return checked(postgres({ url: address.url, ...more }))
    }
    default:
      return address satisfies never
  }
}

/** For one that moves a store: longer than any page of it takes. */
const PATIENCE = seconds(60)

/** A file that is not there, or of an older version, must first be made what a looker can read. */
function openToLook(path: string): Store {
  if (!existsSync(path)) return sqlite({ path })
  try {
    return sqlite({ path, readOnly: true })
  } catch (error) {
    if (!(error instanceof HeadgateError) || error.code !== 'STORE_READ_ONLY') throw error
    return sqlite({ path })
  }
}

/**
 * Refuses a server that will not do. One that cannot be reached may come back: whoever asks meanwhile is
 * told that the store is down. But what must be checked is not used unchecked.
 */
async function checked(store: SharedStore, check?: () => Promise<void>): Promise<Store> {
  try {
    await store.opened()
    await check?.()
    return store
  } catch (error) {
    if (error instanceof StoreError && check === undefined) return store
    await store.close()
    throw error
  }
}

async function refuseLosses(store: RedisStore): Promise<void> {
  const losses = await store.losses()
  if (losses.length === 0) return
  refuseConfig({
    code: 'STORE_MAY_LOSE',
    thing: 'store',
    rule: 'must lose nothing that it answered, as it keeps money or attempts at PINs; acceptRedisLosses: true (--accept-redis-losses) takes the risk',
    finding: losses.join('; '),
  })
}

// A store as its operator sees it.

/** One in memory is nobody's but its process's. A file that is not there is made only where it will be filled. */
export const openWholeStore = async (url: string, create = false): Promise<Store> => {
  const address = parseStoreUrl(url)
  const refuse = (finding: string): never => {
    throw movingMistake('STORE_NOT_MOVABLE', 'the store', 'must be there for others too', finding)
  }
  if (address.kind === 'memory') return refuse('memory:')
  if (address.kind === 'sqlite' && !create && !existsSync(address.path)) {
    return refuse(`no file at ${address.path}`)
  }
  return openStore(url, { patient: true })
}

/** Of a SQLite file only: others come with their own tools. */
export const backupStore = (url: string, to: string): SqliteBackup => {
  const address = parseStoreUrl(url)
  if (address.kind === 'sqlite') return backupSqlite({ from: address.path, to })
  const rule = 'must be a SQLite file; servers are backed up by their own tools'
  throw movingMistake('STORE_NOT_MOVABLE', 'the store', rule, describeStoreUrl(url))
}

export interface StoreReport {
  readonly store: string
  /** Why Headgate cannot use it; none if it can. */
  readonly faults: readonly string[]
  /** Why money and attempts at PINs are refused there, unless the risk is accepted by name. */
  readonly losses: readonly string[]
  readonly fence?: string
  readonly keys?: number
  /** How far the clock of the store is ahead of this machine's, in milliseconds; the furthest of several. */
  readonly clockAheadMs?: number
  /** How long small questions took, in milliseconds. Counted, not judged. */
  readonly answers?: {
    readonly asked: number
    readonly medianMs: number
    readonly slowestMs: number
  }
  /** What else was found, by name. */
  readonly facts: Readonly<Record<string, string | number>>
}

/** Opens it as a server would, which creates what is missing on a server, and no file. */
export const checkStore = async (url: string): Promise<StoreReport> => {
  const address = parseStoreUrl(url)
  const store = describeStoreUrl(url)
  switch (address.kind) {
    case 'memory':
      return { store, faults: [], losses: ['memory, which a restart empties'], facts: {} }
    case 'sqlite':
      return { store, losses: [], ...(await caught(() => checkFile(url, address.path))) }
    case 'redis':
    case 'postgres':
      return { store, losses: [], ...(await caught(() => checkServer(address.kind, address.url))) }
    default:
      return address satisfies never
  }
}

type Found = Omit<StoreReport, 'store' | 'losses'> & Partial<Pick<StoreReport, 'losses'>>

/** What cannot be opened is a finding too. */
async function caught(work: () => Promise<Found>): Promise<Found> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error
    return { faults: [`${error.code}: ${error.message}`], facts: {} }
  }
}

async function checkFile(url: string, path: string): Promise<Found> {
  const { exists, facts, faults } = inspectSqlite(path)
  if (!exists) return { faults, facts: { ...facts, file: 'none yet' } }
  const store = await openStore(url, { onlyLooks: true })
  return { faults, facts, ...(await measured(store)) }
}

async function checkServer(kind: 'redis' | 'postgres', url: string): Promise<Found> {
  if (kind === 'postgres') {
    const { postgres } = await import('../../stores/postgres/index.ts')
    const store = postgres({ url, timeout: PATIENCE })
    return inspected(store, { losses: async () => [], inspect: store.inspect })
  }
  const { redis } = await import('../../stores/redis/index.ts')
  const store = redis({ url, timeout: PATIENCE })
  return inspected(store, store)
}

interface Inspectable {
  losses(): Promise<readonly string[]>
  inspect(): Promise<Readonly<Record<string, string | number>>>
}

async function inspected(store: Store, { losses, inspect }: Inspectable): Promise<Found> {
  try {
    const [facts, found] = [await inspect(), await losses()]
    return { faults: [], losses: found, facts, ...(await measured(store)) }
  } catch (error) {
    await store.close()
    throw error
  }
}

const QUESTIONS = 20

/** Closes the store. */
async function measured(store: Store): Promise<Partial<StoreReport>> {
  try {
    const status = await store.moving?.status()
    const aheads = (status?.clocks ?? []).map((at) => (at - systemClock()) / 1_000)
    const furthest = aheads.toSorted((a, b) => Math.abs(b) - Math.abs(a))[0]
    const took: number[] = []
    for (let i = 0; i < QUESTIONS; i++) {
      const since = uptime()
      await store.range('headgate/{check}', '', 1)
      took.push((uptime() - since) / 1_000)
    }
    took.sort((a, b) => a - b)
    return {
      ...(status?.fence !== undefined && { fence: status.fence }),
      ...(status && { keys: status.keys }),
      ...(furthest !== undefined && { clockAheadMs: Math.round(furthest) }),
      answers: {
        asked: QUESTIONS,
        medianMs: took[QUESTIONS / 2] ?? 0,
        slowestMs: took.at(-1) ?? 0,
      },
    }
  } finally {
    await store.close()
  }
}
