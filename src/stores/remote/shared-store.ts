/** A store on another machine, put together: what it takes, once it is open and until it is closed. */
import { StoreError } from '../../core/errors.ts'
import type { Entry, Item, Key, Moving, ScanPage, Store } from '../../core/store.ts'
import { checkName, checkPage, checkPosition } from '../bounds.ts'
import type { Bell } from './bell.ts'
import type { Optimist } from './optimist.ts'

/** The lists of a store, which no step sees. */
export interface Pages {
  entries(stream: string, after: number, limit: number): Promise<readonly Entry[]>
  range(index: string, after: Key, limit: number): Promise<readonly Item[]>
  trim(stream: string, before: number): Promise<void>
  scan(cursor: string, limit: number): Promise<ScanPage>
}

export interface SharedStoreParts {
  /** Names the store in errors. */
  readonly thing: string
  /** Makes sure that the server is one that we can use. Asked again only if it failed. */
  open(): Promise<void>
  readonly calls: Optimist
  readonly pages: Pages
  readonly bell: Bell
  readonly moving: Moving
  partition(name: string): string
  /** Lets go of connections. */
  close(): Promise<void>
}

/** A store on a server that others use too. */
export interface SharedStore extends Store {
  /**
   * Resolves once the server was reached and is fit to be a store. Calls need not wait for it. Rejects
   * with a `StoreError` while it is out of reach, and with its own code if it will not do.
   */
  opened(): Promise<void>
}

export const sharedStore = (parts: SharedStoreParts): SharedStore => {
  const { thing, calls, pages, moving, partition } = parts
  const { transactSpends } = calls
  const open = onceItSucceeds(parts.open)
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  /** What was accepted is finished before the store closes, opening included. */
  const accept = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing !== undefined) {
      throw new StoreError({ code: 'STORE_CLOSED', thing, rule: 'takes no calls once closed' })
    }
    const working = open().then(work)
    underWay.add(working)
    return working.finally(() => underWay.delete(working))
  }

  return {
    opened: () => accept(async () => {}),
    transact: (step, guess, intent) => accept(() => calls.transact(step, guess, intent)),
    ...(transactSpends && {
      transactSpends: (step, spends) => accept(() => transactSpends(step, spends)),
    }),
    read: async (stream, after, limit) => {
      checkName('stream', stream)
      checkPosition(after)
      checkPage(limit)
      return accept(() => pages.entries(stream, after, limit))
    },
    range: async (index, after, limit) => {
      checkName('index', index)
      checkPage(limit)
      return accept(() => pages.range(index, after, limit))
    },
    trim: async (stream, before) => {
      checkName('stream', stream)
      checkPosition(before)
      return accept(() => pages.trim(stream, before))
    },
    listen: parts.bell.listen,
    partition,
    scan: async (cursor, limit) => {
      checkPage(limit)
      return accept(() => pages.scan(cursor, limit))
    },
    moving: {
      status: () => accept(moving.status),
      fence: (why) => accept(() => moving.fence(why)),
      streams: (cursor, limit) => accept(() => moving.streams(cursor, limit)),
      restore: (writes, streams) => accept(() => moving.restore(writes, streams)),
    },
    close: () => {
      closing ??= Promise.allSettled(underWay)
        .then(() => calls.drained())
        .then(() => parts.bell.close())
        .then(() => parts.close())
      return closing
    },
  }
}

/** Calls that come while it is under way share it. */
function onceItSucceeds(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work().catch((error: unknown) => {
      done = undefined
      throw error
    })
    return done
  }
}
