/**
 * Tells operators when a store on another machine stops answering and when it answers again, and what
 * each limit does meanwhile.
 */
import type { Clock, Instant } from '../../core/time.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Catalog } from '../../requests/catalog/catalog.ts'
import type { LimitDefinition } from '../../requests/catalog/definition.ts'
import type { StoreEvent } from '../../stores/remote/line.ts'
import { describeStoreUrl } from '../config/store-url.ts'
import type { Log } from './log.ts'

export interface StoreWatch {
  /** To be handed to the store. */
  readonly observe: (event: StoreEvent) => void
  /** Since when the breaker is open; undefined while the store answers, or is no server of its own. */
  downSince(): Instant | undefined
}

interface WatchOptions {
  /** Its URL. */
  readonly store: string
  readonly log: Log
  readonly clock?: Clock
  readonly metrics?: { event(event: StoreEvent): void } | undefined
  /** What limits answer during an outage, for the log. */
  readonly policies?: () => FailurePolicies
}

const MICROS_PER_SECOND = 1_000_000

export const watchStore = (options: WatchOptions): StoreWatch => {
  const { log, clock = systemClock, metrics, policies } = options
  const store = describeStoreUrl(options.store)
  let since: Instant | undefined

  const observe = (event: StoreEvent): void => {
    metrics?.event(event)
    switch (event.kind) {
      case 'down':
        since = clock()
        log.error(
          { store, finding: event.finding, onStoreFailure: policies?.() },
          'the store does not answer: its breaker is open, and calls fail at once',
        )
        return
      case 'up': {
        const seconds = since && (clock() - since) / MICROS_PER_SECOND
        since = undefined
        log.warn({ store, seconds }, 'the store answers again: its breaker is closed')
        return
      }
      case 'trip':
      case 'spared':
      case 'retry':
      case 'listening':
        return
      default:
        event satisfies never
    }
  }
  return { observe, downSince: () => since }
}

/** How many limits allow, and how many refuse, while the store does not answer. */
export interface FailurePolicies {
  readonly open: number
  readonly closed: number
}

export const failurePolicies = ({ limits }: Catalog): FailurePolicies => {
  const inForce = [...limits.values()].filter(isInForce)
  const open = inForce.filter(({ onStoreFailure }) => onStoreFailure === 'open').length
  return { open, closed: inForce.length - open }
}

/** Whether a limit can refuse anything. */
export const isInForce = (limit: LimitDefinition): boolean =>
  limit.default !== undefined || limit.places !== undefined || limit.overrideCount > 0
