/** Time as clients of the domain API count it. Floored, so that answers say little about timing. */
import { type Instant, instant } from '../core/index.ts'

export const wholeSeconds = (point: Instant): number => Math.floor(point / 1_000_000)

export const floorToSecond = (point: Instant): Instant => instant(wholeSeconds(point) * 1_000_000)
