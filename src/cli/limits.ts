/** `headgate limits list` and `limits show`: which limits there are, and what is left of one. */
import { parseDuration } from '../core/duration.ts'
import type { Instant } from '../core/time.ts'
import { describeLength } from '../lib/moments.ts'
import type { Api, ApiOutput, RequestOperation } from '../server/api.ts'
import { everyPage, withRequests } from './api.ts'
import type { CliCommand } from './command.ts'
import { describeOutlook } from './decide.ts'
import { ASKING_FLAGS } from './flags.ts'
import { table, tell } from './terminal.ts'

type LimitBody = ApiOutput<'showLimit'>
type InForceBody = ApiOutput<'showLimitInForce'>

export const limitCommands: readonly CliCommand[] = [
  {
    name: 'limits list',
    onlyLooks: true,
    summary: 'Every known limit and its default rate.',
    operands: [],
    flags: ASKING_FLAGS,
    run: async (call) => {
      const limits = await withRequests(call, allLimits)
      tell(call, { limits }, () => table([HEADINGS, ...limits.map(toRow)]))
      return 0
    },
  },
  {
    name: 'limits show',
    onlyLooks: true,
    summary: 'One limit; with an id, the rate in force for it and what is left. Charges nothing.',
    operands: [{ name: 'LIMIT' }, { name: 'ID', optional: true }],
    flags: ASKING_FLAGS,
    run: async (call) => {
      const [name = '', id] = call.operands
      if (id === undefined) {
        const limit = await withRequests(call, (api) => api.ask('showLimit', { name }))
        tell(call, limit, () => table(limitRows(limit)))
        return 0
      }
      const found = await withRequests(call, (api) => api.ask('showLimitInForce', { name, id }))
      tell(call, found, () => table(inForceRows(found, call.clock())))
      return 0
    },
  },
]

const allLimits = (api: Api<RequestOperation>): Promise<readonly LimitBody[]> =>
  everyPage(async (from) => {
    const { limits, next } = await api.ask('listLimits', from)
    return { items: limits, next }
  })

const HEADINGS = ['LIMIT', 'ID', 'DEFAULT', 'OVERRIDES']

const toRow = (limit: LimitBody): readonly string[] => [
  limit.name,
  describeId(limit),
  describeLimit(limit),
  String(limit.overrides),
]

const limitRows = (limit: LimitBody): readonly (readonly string[])[] => [
  ['limit', limit.name],
  ['counts by', describeId(limit)],
  ['default', describeLimit(limit)],
  ['overrides', String(limit.overrides)],
  ['store down', limit.onStoreFailure],
]

function inForceRows(found: InForceBody, now: Instant): readonly (readonly string[])[] {
  const { limit, id, bucket, source, override, inForce } = found
  const comment = override === undefined || override.comment === '' ? '' : ` (${override.comment})`
  return [
    ['limit', limit.name],
    ['id', id],
    ['bucket', bucket],
    ['rate', limit.places === undefined ? describeRate(inForce) : describeLimit(limit)],
    ['from', `${source}${comment}`],
    ['now', describeOutlook(found, now)],
  ]
}

/** `client by /56`, where IPv6 counts by more than a /64. */
const describeId = ({ idFormat, ipv6Prefix }: LimitBody): string =>
  ipv6Prefix === undefined ? idFormat : `${idFormat} by /${ipv6Prefix}`

/** What holds unless an override says otherwise. */
function describeLimit({ places, shadow, default: rate }: LimitBody): string {
  if (places !== undefined)
    return `${places.atOnce} at one time, each for ${describePeriod(places.heldFor)} at most`
  return `${describeRate(rate)}${shadow === true ? ' (shadow: refuses nothing)' : ''}`
}

/** `5 at once, 5 every 1m`. */
const describeRate = (rate: LimitBody['default']): string =>
  rate === undefined
    ? 'none'
    : `${rate.burst} at once, ${rate.count} every ${describePeriod(rate.period)}`

/** `90d`, where the API says `2160h0m0s`. */
function describePeriod(text: string): string {
  const length = parseDuration(text)
  return length === undefined ? text : describeLength(length)
}
