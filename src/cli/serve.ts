/** `headgate serve`: the HTTP server until a signal ends it, and what it prints once it listens. */
import { capacity, type GcraLimit } from '../core/gcra.ts'
import { span } from '../core/time.ts'
import { flagsOf } from '../documents/settings/reference.ts'
import { describeLength } from '../lib/moments.ts'
import type { Catalog } from '../requests/catalog/catalog.ts'
import type { IdFormat } from '../requests/ids/id-format.ts'
import { describeStoreUrl, SERVER_SETTINGS, VERSION } from '../server/api.ts'
import type { Headgate, SpendingService } from '../server/index.ts'
import { formatAllowance } from '../spending/amount.ts'
import type { CliCommand, CommandCall } from './command.ts'
import { JSON_FLAG, settingsFlags } from './flags.ts'
import { brief, table, tell } from './terminal.ts'

export const serveCommands: readonly CliCommand[] = [
  {
    name: 'serve',
    summary: 'Answer over HTTP. SIGHUP reloads the configuration, SIGTERM ends it gracefully.',
    operands: [],
    flags: [...flagsOf(SERVER_SETTINGS), JSON_FLAG],
    run: async (call) => {
      // Only now: the HTTP server takes longer to load than most commands take in all.
      const { createLogger, openHeadgate } = await import('../server/index.ts')
      const { environment, flags, terminal, signals } = call
      const logger = createLogger('info', terminal.log)
      const opening = openHeadgate({
        flags: settingsFlags(flags),
        environment,
        serving: true,
        log: logger,
      })
      // What became of it is in the log. Before all else: without a listener the signal ends the process.
      signals.onReload(() => void opening.then(({ catalog }) => catalog.reload()).catch(() => {}))
      const headgate = await opening
      logger.level = headgate.settings.logLevel
      try {
        await serveUntilSignal(headgate, logger, call)
      } finally {
        await headgate.close()
      }
      return 0
    },
  },
]

type Logger = ReturnType<typeof import('../server/index.ts')['createLogger']>

async function serveUntilSignal(
  headgate: Headgate,
  logger: Logger,
  call: CommandCall,
): Promise<void> {
  const { createHttpServer, listen } = await import('../server/index.ts')
  const { announce, describeAnnouncement } = await import('./serve.ts')
  const { flags, terminal, signals } = call
  // Before the announcement: a program that reads that may signal at once.
  const ending = signals.ended()
  const server = createHttpServer(headgate, { logger })
  try {
    const url = await listen(server, headgate.settings)
    tell(call, announce(headgate, url), describeAnnouncement)
    const signal = await ending
    if (!flags.has('json')) terminal.out(`${signal}: finishing what was accepted`)
  } finally {
    await server.close()
  }
}

interface Announcement {
  readonly version: string
  readonly url: string
  readonly store: string
  readonly config: readonly string[]
  readonly limitsInForce: readonly string[]
  readonly tokens: number
  /** Absent where it is not configured. */
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

export const announce = (headgate: Headgate, url: string): Announcement => {
  const { settings, catalog } = headgate
  const { configFile, defaultsFile, overridesFile } = settings
  const files = [configFile, defaultsFile, overridesFile].flatMap((file) => file ?? [])
  const tokens = headgate.tokens().length
  const trial = firstTrial(catalog.current(), url, tokens > 0)
  return {
    version: VERSION,
    url,
    store: describeStoreUrl(settings.store),
    config: files,
    limitsInForce: inForce(catalog.current()),
    tokens,
    ...(headgate.spending && { spending: describeSpending(headgate.spending) }),
    ...(headgate.subjects && { subjects: headgate.subjects.identity.did }),
    ...(trial && { try: trial }),
  }
}

/** More names than this say less than their number. */
const MAX_NAMES = 4

export const describeAnnouncement = (facts: Announcement): string => {
  const { config, limitsInForce, tokens } = facts
  const rows = [
    [
      '  config',
      config.length === 0 ? 'none: no headgate.yml here, and none named' : config.join(', '),
    ],
    ['  limits', limitsInForce.length === 0 ? 'none in force' : brief(limitsInForce, MAX_NAMES)],
    ['  store', facts.store],
    ...(facts.spending === undefined ? [] : [['  spending', facts.spending]]),
    ['  tokens', tokens === 0 ? 'none: only this machine may ask' : String(tokens)],
    ...(facts.subjects === undefined ? [] : [['  subjects', facts.subjects]]),
    ['  listens', facts.url],
  ]
  const trial = facts.try
  const hint =
    trial === undefined
      ? ['Declare a limit in headgate.yml: it is in force as soon as the file is saved.']
      : [`Try it (${trial.promise}):`, `  ${trial.curl}`]
  return [`headgate ${facts.version}`, table(rows), '', ...hint].join('\n')
}

function describeSpending({ settings, plans }: SpendingService): string {
  const { total, unit, window } = settings()
  if (total === 0n) return 'off: no total'
  const length = describeLength(window.length)
  return `${formatAllowance(total, unit)} every ${length}, plans ${plans().plans.size}`
}

const inForce = ({ limits }: Catalog): readonly string[] =>
  [...limits.values()]
    .filter((limit) => limit.default !== undefined || limit.overrideCount > 0)
    .map(({ name }) => name)

/** An id for each format, to try; addresses are those reserved for documentation. */
const SAMPLE_IDS: Readonly<Record<IdFormat, string>> = {
  ipAddress: '203.0.113.7',
  ipv6RangeCIDR: '2001:db8:7::/48',
  regId: '12345678',
  domain: 'example.com',
  domainOrCIDR: 'example.com',
  fqdnSet: 'example.com,www.example.com',
  client: '203.0.113.7',
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
  return `allowed ${limit.burst} times at once, then once every ${describeLength(one)}`
}

/** A server on every address is reached at this machine's own. */
const reachable = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
