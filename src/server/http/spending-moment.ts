/** Moments from the wire. */
import { HeadgateError, type Instant, instant } from '../../core/index.ts'
import { quote } from '../../documents/index.ts'
import type { HttpErrorCode } from '../problems.ts'

/** ISO 8601 with a zone: a moment without one means something else on every machine. */
export const readMoment = (text: string, thing: string, code: HttpErrorCode): Instant => {
  const [, seconds = '', fraction = '', zone = ''] = MOMENT.exec(text) ?? []
  const millis = Date.parse(`${seconds}${zone}`)
  if (!Number.isNaN(millis) && millis >= 0) {
    return instant(millis * 1_000 + Number(fraction.padEnd(6, '0')))
  }
  const rule = 'must be a moment in ISO 8601 with its zone, such as 2026-01-01T00:00:00Z'
  throw new HeadgateError<HttpErrorCode>({ code, thing, rule, finding: quote(text) })
}

const MOMENT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d:\d\d)$/
