/** A page of a signer's audit stream. Opens the store itself, beside a signer that runs; adds nothing to it. */
import { statSync } from 'node:fs'
import type { Instant, Store } from '../core/index.ts'
import { quote } from '../documents/index.ts'
import { type AuditEntry, type AuditPage, checkSignerStore, readAudit } from '../secrets/index.ts'
import { DEFAULT_SIGNER_STORE } from '../server/odis/signer-settings.ts'
import { openStore } from '../server/open-store.ts'
import { gatherOptions, readStoreOption } from '../server/options.ts'
import { parseStoreUrl } from '../server/store-url.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Call } from './command.ts'
import { settingsFlags } from './common-flags.ts'
import { describeSeconds, inSeconds } from './moments.ts'
import { table, writeJson } from './terminal.ts'

const USUAL_PAGE = 100

/** A page is built in memory, and read by people. */
const MAX_PAGE = 1_000

export const showAudit = async (call: Call): Promise<void> => {
  const after = readWhole(call, 'after', { least: 0, most: Number.MAX_SAFE_INTEGER, usual: 0 })
  const limit = readWhole(call, 'limit', { least: 1, most: MAX_PAGE, usual: USUAL_PAGE })
  const { url, refuse } = storeOf(call)
  const store = openStore(url)
  try {
    const page = await readAudit(store, after, limit)
    if (page.entries.length === 0 && (await isOfAnother(store))) {
      refuse('one that holds other things, and nothing of a signer')
    }
    if (call.flags.has('json')) writeJson(call.terminal, toJson(page))
    else call.terminal.out(describe(page))
  } finally {
    await store.close()
  }
}

interface Named {
  readonly url: string
  readonly refuse: (finding: string) => never
}

/** A file that is not there, or is empty, is refused: opening it would make a database, which says nothing. */
function storeOf({ flags, environment }: Call): Named {
  const { store } = gatherOptions(settingsFlags(flags), environment)
  const url = store === undefined ? DEFAULT_SIGNER_STORE : readStoreOption(store)
  const refuse = (finding: string): never => {
    const rule = 'must name the database of a signer'
    return refuseCall({
      code: 'FILE_UNREADABLE',
      thing: store?.thing ?? '--store',
      rule,
      finding,
    })
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

/** Such as a server's. One that holds nothing yet may be anybody's. */
async function isOfAnother(store: Store): Promise<boolean> {
  const [any] = await store.scan('', 1)
  const [own] = await store.scan(SIGNER_KEYS, 1)
  return any !== undefined && own?.key.startsWith(SIGNER_KEYS) !== true
}

/** What all keys of a signer begin with. */
const SIGNER_KEYS = 'secrets/'

interface Bounds {
  readonly least: number
  readonly most: number
  readonly usual: number
}

function readWhole({ flags }: Call, name: string, { least, most, usual }: Bounds): number {
  const text = flags.text(name)
  if (text === undefined) return usual
  const number = /^\d{1,16}$/.test(text) ? Number(text) : -1
  if (number >= least && number <= most) return number
  const rule = `must be a whole number from ${least} to ${most}`
  const finding = quote(text)
  return refuseCall({ code: 'FLAG_VALUE_INVALID', thing: `--${name}`, rule, finding })
}

const toJson = ({ entries, next }: AuditPage) => ({
  entries: entries.map((entry) => ({ ...entry, at: toIso(entry.at) })),
  next,
})

const toIso = (at: Instant): string => new Date(at / 1_000).toISOString()

function describe({ entries, next }: AuditPage): string {
  const shown = entries.length === 0 ? 'none' : table([HEADINGS, ...entries.map(toRow)])
  return [shown, ...(next === undefined ? [] : [`more: --after ${next}`])].join('\n')
}

const HEADINGS = ['N', 'WHEN', 'EVENT', 'KEY', 'RECORD']

const toRow = ({ position, at, event, keyVersion, record }: AuditEntry): readonly string[] => [
  String(position),
  describeSeconds(inSeconds(at)),
  event,
  keyVersion === undefined ? '' : String(keyVersion),
  record,
]
