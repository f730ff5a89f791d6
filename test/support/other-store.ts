/**
 * Stands in for `stores/memory` in the tests of the pillars when HEADGATE_STORE asks for it
 * (vitest.config.ts, scripts/prove.js): the same suites, over a store of another kind.
 */
import { onTestFinished, TestRunner } from 'vitest'
import type { ServiceKind } from '../../scripts/services.js'
import type { Item, ScanPage, Store } from '../../src/core/store.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { type MemoryOptions, memory as plain } from '../../src/stores/memory/index.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { namedStore } from '../../src/testing/contract/named-store.ts'
import { pretendedCluster, remoteStore } from '../../src/testing/index.ts'
import { lossyStore } from './lossy.ts'
import { placeAt, type RemotePlace } from './remote-stores.ts'
import { scratchFileToRemove } from './scratch-file.ts'
import { sharedUrl } from './services.ts'

type OpenAnother = (options: MemoryOptions) => Store

/** Cases that say nothing about a store on disk or on a server, by the ends of their names, and why. */
const ONLY_IN_MEMORY: Readonly<Record<string, string>> = {
  'that is slow has lost its right to charge': 'sets the clock between calls that travel at once',
  'also by a retry after half of it': 'expects two calls at once to arrive in order',
}

const BY_TIME = 'what an unwell cluster leaves behind goes by time'
const SECOND = 'who asks again after a loss is told what was kept, not that it was kept anew'

const ONLY_IF_HEARD: Readonly<Record<string, string>> = {
  'pushes the oldest out of its shard, with its legs': BY_TIME,
  'forgotten but for what a shard may hold': BY_TIME,
  'the link goes, and the id is free for another limit': BY_TIME,
  'is the oldest to be forgotten when a scope has remembered its fill': SECOND,
  'that was forgotten and used again is not forgotten with its former self': SECOND,
  'is remembered for a day': SECOND,
  'observers get each answer, and whether it was charged': SECOND,
  'is charged by a retry, though a refund came between':
    'a leg whose reply was lost stays charged until the operation is asked for again',
  'costs none, and locks nothing once it is set right':
    'a retry is evaluated again, and counted here',
}

/** By the word in HEADGATE_STORE. */
const KINDS: Readonly<Record<string, () => Promise<OpenAnother>>> = {
  cluster: async () => (options) => pretendedCluster(plain(options)),
  remote: async () => pretendedRemote,
  lossy: async () => onLossy,
  sqlite: async () => onFiles,
  redis: () => onServer('redis'),
  'redis-cluster': () => onServer('cluster'),
  postgres: () => onServer('postgres'),
}

const kind = process.env['HEADGATE_STORE'] ?? ''
const open = await KINDS[kind]?.()
if (open === undefined) throw new Error(`HEADGATE_STORE is ${Object.keys(KINDS).join(', ')}`)

export const memory = (options: MemoryOptions = {}): Store => open(options)

function pretendedRemote(options: MemoryOptions): Store {
  const inner = plain(options)
  const remote = remoteStore(inner, { clock: options.clock ?? systemClock })
  const close = async () => {
    await remote.close()
    await inner.close()
  }
  return { ...remote, close }
}

function onLossy(options: MemoryOptions): Store {
  skipWhatDoesNotApply(ONLY_IF_HEARD)
  return lossyStore(plain(options))
}

function onFiles(options: MemoryOptions): Store {
  skipWhatDoesNotApply(ONLY_IN_MEMORY)
  const { path, remove } = scratchFileToRemove()
  return reopened(() => sqlite({ path, ...options }), remove)
}

async function onServer(service: ServiceKind): Promise<OpenAnother> {
  const url = await sharedUrl(service)
  if (url === undefined) throw new Error(`${kind} is not here, so nothing can be said about it`)
  const opened = service === 'postgres' ? inOneSchema(placeAt(service, url)) : undefined
  return (options) => {
    skipWhatDoesNotApply(
      ONLY_IN_MEMORY,
      options.uptime && "a server forgets by its own time, not by a test's",
    )
    if (opened !== undefined) return opened(options)
    const place = placeAt(service, url)
    return reopened(() => place.open(options))
  }
}

function skipWhatDoesNotApply(listed: Readonly<Record<string, string>>, why?: string): void {
  const test = TestRunner.getCurrentTest()
  if (test === undefined) return
  const end = Object.keys(listed).find((one) => test.name.endsWith(one)) ?? ''
  const reason = why ?? listed[end]
  if (reason === undefined) return
  console.log(`headgate: over ${kind} "${test.name}" is left out: ${reason}`)
  test.context.skip(reason)
}

/** To make a schema takes longer than most tests: here each store has a prefix in one that all share. */
function inOneSchema(place: RemotePlace): OpenAnother {
  let stores = 0
  return (options) => {
    const prefix = `${stores++}:`
    const namer = (_: string, part: string) => `${prefix}${part}`
    const short = new Map<string, string>()
    return reopened(() => {
      const store = place.open(options)
      return {
        ...namedStore(store, { tag: '', namer, short }),
        // In the order of keys, from the first of ours to the last.
        scan: async (cursor, limit) => {
          const { items, next } = await store.scan(cursor === '' ? prefix : cursor, limit)
          const own = items.filter(({ key }) => key.startsWith(prefix))
          const shown = own.map(({ key, value }) => ({ key: key.slice(prefix.length), value }))
          const isLast = next === undefined || own.length < items.length
          return isLast ? { items: shown } : { items: shown, next }
        },
      }
    })
  }
}

/** A test opens hundreds and closes none. */
const MAX_OPEN = 16

const inUse = new Map<object, () => Promise<void>>()

/** A store that lets go of its connection or file while others need theirs. What it keeps is elsewhere. */
function reopened(openIt: () => Store, remove = () => {}): Store {
  const me = {}
  let store: Store | undefined
  let calls = 0
  let isClosed = false

  const letGo = async (): Promise<void> => {
    inUse.delete(me)
    const old = store
    if (!isClosed) store = undefined
    await old?.close()
  }
  const current = (): Store => {
    store ??= openIt()
    if (isClosed) return store
    inUse.delete(me)
    inUse.set(me, async () => {
      if (calls === 0) await letGo()
    })
    for (const oldest of [...inUse.values()].slice(0, -MAX_OPEN)) void oldest()
    return store
  }
  const call = async <T>(work: (store: Store) => Promise<T>): Promise<T> => {
    calls += 1
    return work(current()).finally(() => {
      calls -= 1
    })
  }

  if (TestRunner.getCurrentTest() !== undefined) {
    onTestFinished(async () => {
      await letGo()
      remove()
    })
  }
  return {
    transact: (...asked) => call((to) => to.transact(...asked)),
    read: (...asked) => call((to) => to.read(...asked)),
    range: (...asked) => call((to) => to.range(...asked)),
    trim: (...asked) => call((to) => to.trim(...asked)),
    // Tests look at one page: as full as they asked for, where Redis may show none of ours.
    scan: (cursor, limit) => call((to) => fullPage(to, cursor, limit)),
    partition: (name) => current().partition(name),
    close: async () => {
      current()
      isClosed = true
      await letGo()
    },
  }
}

async function fullPage(store: Store, cursor: string, limit: number): Promise<ScanPage> {
  const items: Item[] = []
  for (let from = cursor; ; ) {
    const page = await store.scan(from, limit - items.length)
    items.push(...page.items)
    if (page.next === undefined) return { items }
    if (items.length >= limit) return { items, next: page.next }
    from = page.next
  }
}
