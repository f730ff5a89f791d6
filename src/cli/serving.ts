/** What a server says when it has started: what is in force, where, and a first question to try. */
import { resolve } from 'node:path'
import { capacity, formatDuration, type GcraLimit, span } from '../core/index.ts'
import type { Catalog, IdFormat } from '../requests/index.ts'
import type { Headgate } from '../server/headgate.ts'
import type { SpendingDesk } from '../server/spending/spending-desk.ts'
import { parseStoreUrl } from '../server/store-url.ts'
import { VERSION } from '../server/version.ts'
import { formatAllowance } from '../spending/index.ts'
import { table } from './terminal.ts'

export interface Serving {
  readonly version: string
  readonly url: string
  readonly store: string
  readonly config: readonly string[]
  readonly limitsInForce: readonly string[]
  readonly tokens: number
  /** Absent where nobody spends. */
  readonly spending?: string
  /** The DID that rates are kept under; absent where subjects are off. */
  readonly subjects?: string
  /** Absent while no limit is in force. */
  readonly try?: Trial
}

interface Trial {
  readonly limit: string
  readonly promise: string
  readonly curl: string
}

export const serving = (headgate: Headgate, url: string): Serving => {
  const { settings, catalog } = headgate
  const { configFile, defaultsFile, overridesFile } = settings
  const files = [configFile, defaultsFile, overridesFile].flatMap((file) => file ?? [])
  const tokens = headgate.tokens().length
  const trial = firstTrial(catalog.current(), url, tokens > 0)
  return {
    version: VERSION,
    url,
    store: describeStore(settings.store),
    config: files,
    limitsInForce: inForce(catalog.current()),
    tokens,
    ...(headgate.spending && { spending: describeSpending(headgate.spending) }),
    ...(headgate.subjects && { subjects: headgate.subjects.identity.did }),
    ...(trial && { try: trial }),
  }
}

export const describeServing = (facts: Serving): string => {
  const { config, limitsInForce, tokens } = facts
  const rows = [
    [
      '  config',
      config.length === 0 ? 'none: no headgate.yml here, and none named' : config.join(', '),
    ],
    ['  limits', limitsInForce.length === 0 ? 'none in force' : brief(limitsInForce)],
    ['  store', facts.store],
    ...(facts.spending === undefined ? [] : [['  spending', facts.spending]]),
    ['  tokens', tokens === 0 ? 'none: only this machine may ask' : String(tokens)],
    ...(facts.subjects === undefined ? [] : [['  subjects', facts.subjects]]),
    ['  listens', facts.url],
  ]
  const trial = facts.try
  const hint =
    trial === undefined
      ? ['Declare a limit in headgate.yml: it is felt as soon as the file is saved.']
      : [`Try it (${trial.promise}):`, `  ${trial.curl}`]
  return [`headgate ${facts.version}`, table(rows), '', ...hint].join('\n')
}

function describeSpending({ settings, plans }: SpendingDesk): string {
  const { total, unit, window } = settings()
  if (total === 0n) return 'off: no total'
  const length = formatDuration(window.length)
  return `${formatAllowance(total, unit)} every ${length}, plans ${plans().plans.size}`
}

/** More names than this say less than their number. */
const MAX_NAMES = 4

function brief(names: readonly string[]): string {
  const more = names.length - MAX_NAMES
  const shown = names.slice(0, MAX_NAMES).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}

const inForce = ({ limits }: Catalog): readonly string[] =>
  [...limits.values()]
    .filter((limit) => limit.default !== undefined || limit.overrideCount > 0)
    .map(({ name }) => name)

function describeStore(url: string): string {
  const address = parseStoreUrl(url)
  switch (address.kind) {
    case 'memory':
      return 'memory: forgotten when the server ends'
    case 'sqlite':
      return `sqlite:${resolve(address.path)}`
    default:
      return address satisfies never
  }
}

/** Of the forms that ids can take, one that each accepts; addresses are those of documentation. */
const SAMPLE_IDS: Readonly<Record<IdFormat, string>> = {
  ipAddress: '203.0.113.7',
  ipv6RangeCIDR: '2001:db8:7::/48',
  regId: '12345678',
  domain: 'example.com',
  domainOrCIDR: 'example.com',
  fqdnSet: 'example.com,www.example.com',
  opaque: 'alice',
  'regId:identifier': '12345678:example.com',
  'regId:domainOrCIDR': '12345678:example.com',
}

function firstTrial(catalog: Catalog, url: string, needsToken: boolean): Trial | undefined {
  for (const { name, idFormat, default: limit } of catalog.limits.values()) {
    if (limit === undefined) continue
    const id = SAMPLE_IDS[idFormat]
    const query = new URLSearchParams({ limit: name, id })
    const token = needsToken ? ` -H "Authorization: Bearer $HEADGATE_TOKEN"` : ''
    const curl = `curl -i${token} '${reachable(url)}/v1/gate?${query}'`
    return { limit: name, promise: describePromise(limit), curl }
  }
  return undefined
}

const describePromise = (limit: GcraLimit): string => {
  const one = span(capacity(limit) / limit.burst)
  return `allowed ${limit.burst} times at once, then once every ${formatDuration(one)}`
}

/** A server on every address is reached at this machine's own. */
const reachable = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
