/** `headgate odis signer`, `odis audit` and `odis clock repair`: a signer, its audit stream and its clock. */
import { statSync } from 'node:fs'
import { describeClock } from '../core/machine-clock.ts'
import type { Store } from '../core/store.ts'
import type { Instant, Span } from '../core/time.ts'
import { flagsOf } from '../documents/settings/reference.ts'
import { describeSeconds, inSeconds } from '../lib/moments.ts'
import type { AuditEntry, AuditPage } from '../secrets/index.ts'
import {
  describeStoreUrl,
  parseStoreUrl,
  refuseUnknownVariables,
  SIGNER_SETTINGS,
  VERSION,
} from '../server/api.ts'
import type { OpenSigner } from '../server/local.ts'
import { type CliCommand, type CommandCall, type FlagSpec, refuseCall } from './command.ts'
import {
  AFTER_FLAG,
  flagTexts,
  JSON_FLAG,
  LIMIT_FLAG,
  readWhole,
  refuseValue,
  settingsFlags,
} from './flags.ts'
import { odisKeyCommands } from './odis-keys.ts'
import { pageTable, table, tell } from './terminal.ts'

const STORE_FLAG: FlagSpec = {
  name: 'store',
  value: 'URL',
  summary: 'The database of the signer; sqlite:./headgate-signer.db.',
}

export const odisCommands: readonly CliCommand[] = [
  ...odisKeyCommands,
  {
    name: 'odis signer',
    summary:
      'Harden secrets for clients or a combiner. SIGHUP reloads the keys, SIGTERM ends it gracefully.',
    operands: [],
    flags: [...flagsOf(SIGNER_SETTINGS), JSON_FLAG],
    run: runSigner,
  },
  {
    name: 'odis audit',
    onlyLooks: true,
    summary: 'Each charged attempt, disabled domain and repaired clock of a signer, oldest first.',
    operands: [],
    flags: [STORE_FLAG, AFTER_FLAG, LIMIT_FLAG, JSON_FLAG],
    run: showAudit,
  },
  {
    name: 'odis clock repair',
    summary: 'Accept the clock of this machine as it is now, where a signer does not trust it.',
    operands: [],
    flags: [STORE_FLAG, JSON_FLAG],
    run: acceptClock,
  },
]

/** A signer from its opening to the signal that ends it. */
async function runSigner(call: CommandCall): Promise<0> {
  const { flags, environment, terminal, signals } = call
  const { listen, readSignerSettings, serveSigner } = await import('../server/local.ts')
  refuseUnknownVariables(environment)
  const settings = readSignerSettings({ flags: flagTexts(SIGNER_SETTINGS, flags), environment })
  const opening = serveSigner(settings, terminal.log)
  // What became of it is in the log. Before all else: without a listener the signal ends the process.
  signals.onReload(() => void opening.then(({ opened }) => opened.reload()).catch(() => {}))
  const { opened, server, close } = await opening
  // Before the announcement: a program that reads that may signal at once.
  const ending = signals.ended()
  try {
    const url = await listen(server, settings)
    tell(call, announcement(opened, url), () => describeSigner(opened, url))
    const signal = await ending
    if (!flags.has('json')) terminal.out(`${signal}: finishing what was accepted`)
  } finally {
    await close()
  }
  return 0
}

const announcement = ({ settings, keys }: OpenSigner, url: string) => ({
  version: VERSION,
  url,
  store: describeStoreUrl(settings.store),
  conduct: settings.conduct,
  engine: settings.engine,
  currentKey: keys.current,
  keys: keys.notices,
})

function describeSigner({ settings, keys }: OpenSigner, url: string): string {
  const rows = [
    ...keys.notices.map(({ version, kind, publicKey }) => [
      `  key ${version}`,
      `${kind}${version === keys.current ? ', current' : ''}, public key ${publicKey}`,
    ]),
    ['  conduct', settings.conduct],
    ['  engine', settings.engine],
    ['  store', describeStoreUrl(settings.store)],
    ['  listens', url],
  ]
  return [`headgate ${VERSION}, signer`, table(rows)].join('\n')
}

const USUAL_PAGE = 100

/** A page is built in memory, and read by people. */
const MAX_AUDIT_PAGE = 1_000

/** A page of the audit stream. Opens the store itself, beside a signer that runs; adds nothing to it. */
async function showAudit(call: CommandCall): Promise<0> {
  const after = call.flags.text('after') ?? ''
  const limit = readWhole(call.flags, 'limit', { least: 1, most: MAX_AUDIT_PAGE }) ?? USUAL_PAGE
  const { isAuditCursor, readAudit } = await import('../secrets/index.ts')
  if (!isAuditCursor(after)) {
    refuseValue('--after', 'must be the next or the end of an earlier page', after)
  }
  const page = await onSignerStore(call, (store) => readAudit(store, after, limit))
  tell(call, toJson(page), () => pageTable(HEADINGS, page.entries.map(toRow), page.next))
  return 0
}

/** Takes the word of whoever runs it that the clock is right. Beside a signer that runs, or before one starts. */
async function acceptClock(call: CommandCall): Promise<0> {
  const { thisMachine } = await import('../lib/machine.ts')
  const { repairClock } = await import('../secrets/index.ts')
  const machine = thisMachine()
  const { found, now } = await onSignerStore(call, (store) => repairClock({ store, machine }))
  const facts = {
    repaired: !found.trusted,
    now: toIso(now),
    ...('reason' in found && { reason: found.reason }),
    ...('offBy' in found && { offBy: inExactSeconds(found.offBy) }),
  }
  tell(call, facts, () =>
    found.trusted
      ? 'the clock is trusted: nothing was changed'
      : `${describeClock(found)}; accepted as it is now, ${describeSeconds(inSeconds(now))}`,
  )
  return 0
}

/** Opens the store itself, beside a signer that may run. */
async function onSignerStore<R>(call: CommandCall, work: (store: Store) => Promise<R>): Promise<R> {
  const { url, refuse } = await storeOf(call)
  const { openStore } = await import('../server/local.ts')
  const { isSignerStore } = await import('../secrets/index.ts')
  const store = await openStore(url, { onlyLooks: call.onlyLooks })
  try {
    if (!(await isSignerStore(store))) refuse('one that holds nothing of a signer')
    return await work(store)
  } finally {
    await store.close()
  }
}

interface NamedStore {
  readonly url: string
  readonly refuse: (finding: string) => never
}

/** A file that is not there, or is empty, is refused: opening it would make a database with nothing in it. */
async function storeOf({ flags, environment }: CommandCall): Promise<NamedStore> {
  refuseUnknownVariables(environment)
  const { findOption } = await import('../server/local.ts')
  const { checkSignerStore } = await import('../secrets/index.ts')
  const setting = SIGNER_SETTINGS.store
  const store = findOption(setting, { flags: settingsFlags(flags), environment })
  const url = store === undefined ? setting.default : setting.reader.fromText(store, {})
  const refuse = (finding: string): never => {
    const rule = 'must name the database of a signer'
    const thing = store?.thing ?? '--store'
    return refuseCall({ code: 'FILE_UNREADABLE', thing, rule, finding })
  }
  checkSignerStore(url)
  const address = parseStoreUrl(url)
  if (address.kind === 'sqlite') {
    const size = statSync(address.path, { throwIfNoEntry: false })?.size
    if (size === undefined) refuse(`no file at ${address.path}`)
    if (size === 0) refuse(`an empty file at ${address.path}`)
  }
  return { url, refuse }
}

const toJson = ({ entries, next, end }: AuditPage) => ({
  entries: entries.map(({ correction, ...entry }) => ({
    ...entry,
    ...(correction !== undefined && { correction: inExactSeconds(correction) }),
    at: toIso(entry.at),
  })),
  next,
  end,
})

const inExactSeconds = (length: Span): number => length / 1_000_000

const toIso = (at: Instant): string => new Date(at / 1_000).toISOString()

const HEADINGS = ['PLACE', 'WHEN', 'EVENT', 'KEY', 'RECORD']

const toRow = (entry: AuditEntry): readonly string[] => {
  const { place, at, event, keyVersion, record, correction } = entry
  return [
    place,
    describeSeconds(inSeconds(at)),
    event,
    keyVersion === undefined ? '' : String(keyVersion),
    correction === undefined ? record : `${record} by ${inExactSeconds(correction)} s`,
  ]
}
