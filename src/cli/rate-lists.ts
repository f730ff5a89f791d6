/**
 * `headgate rates import`, `export` and `diff`: many rates at once, as files.
 *
 * An import opens the store itself: a message over UCAN is too small for a list, and several could
 * not be all or nothing.
 */
import { HeadgateError } from '../core/errors.ts'
import { instant } from '../core/time.ts'
import type {
  ClientResult,
  LabelledDraft,
  RateDraft,
  RateList,
  RatesClient,
} from '../subjects/index.ts'
import { optionsOf } from './api.ts'
import type { CliCommand, CommandCall, ExitCode, FlagSpec } from './command.ts'
import {
  JSON_FLAG,
  LOCAL_FLAGS,
  readMomentFlag,
  readNumber,
  readWord,
  requireFlag,
  SERVER_FLAG,
} from './flags.ts'
import { LABEL_FLAG, tellRefusal } from './rates.ts'
import { KEY_FLAG, PROOF_FLAG, readBytes, withRates } from './rates-client.ts'
import { tell } from './terminal.ts'

const LIST_FLAGS: readonly FlagSpec[] = [
  LABEL_FLAG,
  { name: 'format', value: 'FORMAT', summary: 'csv, crowdsec, fail2ban or lines; else guessed.' },
  { name: 'rate', value: 'RATE', summary: 'For entries that tell none; 0 blocks, and is usual.' },
  { name: 'expires', value: 'WHEN', summary: 'For entries that tell no end: 7d, or a date.' },
]

const PRUNE_FLAG: FlagSpec = {
  name: 'prune',
  summary: 'Also remove the rates of this label that the file does not have.',
}

export const rateListCommands: readonly CliCommand[] = [
  {
    name: 'rates import',
    summary: 'Set the rates of a file under a label: all of them, or none.',
    operands: [{ name: 'FILE' }],
    flags: [
      ...LIST_FLAGS,
      PRUNE_FLAG,
      { name: 'force', summary: 'Loosen blocks, and cover public suffixes.' },
      { name: 'dry-run', summary: 'Say what would change, and change nothing.' },
      ...LOCAL_FLAGS,
      JSON_FLAG,
    ],
    run: runImport,
  },
  {
    name: 'rates export',
    onlyLooks: true,
    summary: 'The rates in force, in CSV that `rates import` reads.',
    operands: [],
    flags: [LABEL_FLAG, KEY_FLAG, PROOF_FLAG, SERVER_FLAG, ...LOCAL_FLAGS, JSON_FLAG],
    run: async (call) => {
      const { writeRateList } = await import('../subjects/index.ts')
      const rates = await withRates(call, (client) => allRates(client, call.flags.text('label')))
      if ('error' in rates) return tellRefusal(call, rates.error)
      // A file, not lines for people: a reason is written as it is.
      if (call.flags.has('json')) tell(call, { rates: rates.map(shownDraft) }, () => '')
      else call.terminal.bytes(Buffer.from(writeRateList(rates)))
      return 0
    },
  },
  {
    name: 'rates diff',
    onlyLooks: true,
    summary: 'How a file differs from the rates of its label; exit 2 if it does.',
    operands: [{ name: 'FILE' }],
    flags: [...LIST_FLAGS, KEY_FLAG, PROOF_FLAG, SERVER_FLAG, ...LOCAL_FLAGS, JSON_FLAG],
    run: async (call) => {
      const { drafts } = await readList(call)
      const label = requireFlag(call, 'label')
      const rates = await withRates(call, (client) => allRates(client, label))
      if ('error' in rates) return tellRefusal(call, rates.error)
      const found = await difference(drafts, rates)
      tell(call, shownDifference(found), () => describeDifference(found))
      return isEmpty(found) ? 0 : 2
    },
  },
]

async function runImport(call: CommandCall): Promise<ExitCode> {
  const { drafts, skipped } = await readList(call)
  const label = requireFlag(call, 'label')
  const { openSubjectsHere } = await import('../server/local.ts')
  const { identity, rates, close } = await openSubjectsHere(optionsOf(call))
  try {
    const before = await eachPage((after) => rates.query({ label, limit: PAGE, after }))
    const found = await difference(drafts, before)
    const done = call.flags.has('prune') ? found : { ...found, unwanted: [] }
    const remove = done.unwanted.map(({ id }) => id)
    if (!call.flags.has('dry-run')) {
      const force = call.flags.has('force')
      const by = { issuer: identity.did, chain: [] }
      const result = await rates.import({ drafts, remove, force }, by)
      if (result.error !== undefined) return tellRefusal(call, result.error)
    }
    tell(call, { ...shownDifference(done), skipped }, () => describeImport(call, done, skipped))
    return 0
  } finally {
    await close()
  }
}

/** Rates asked for at a time. */
const PAGE = 1_000

interface Listed extends RateDraft {
  readonly id: string
}

/** All items, page by page. */
async function eachPage<T>(
  ask: (
    after: string | undefined,
  ) => Promise<{ readonly rates: readonly T[]; readonly next?: string }>,
): Promise<readonly T[]> {
  const found: T[] = []
  for (let after: string | undefined; ; ) {
    const { rates, next } = await ask(after)
    found.push(...rates)
    if (next === undefined) return found
    after = next
  }
}

type Refusal = NonNullable<ClientResult['error']>

async function allRates(
  client: RatesClient,
  label: string | undefined,
): Promise<readonly Listed[] | { readonly error: Refusal }> {
  let refused: Refusal | undefined
  const found = await eachPage(async (after) => {
    const words = { ...(label !== undefined && { label }), ...(after !== undefined && { after }) }
    const { ok, error } = await client.query({ ...words, limit: PAGE })
    refused = error
    const { rates, next }: Partial<Record<string, unknown>> = { ...ok }
    const page = Array.isArray(rates) ? rates.map(toListed) : []
    return typeof next === 'string' ? { rates: page, next } : { rates: page }
  })
  return refused === undefined ? found : { error: refused }
}

/** Seconds on the wire. */
function toListed(value: unknown): Listed {
  const { id, subject, rate, expires, label, reason }: Partial<Record<string, unknown>> =
    Object(value)
  return {
    id: String(id),
    subject: String(subject),
    rate: Number(rate),
    ...(typeof expires === 'number' && { expiresAt: instant(expires * 1_000_000) }),
    ...(typeof label === 'string' && { label }),
    ...(typeof reason === 'string' && { reason }),
  }
}

/** All mistakes of the list are told at once; then nothing is done. */
async function readList(
  call: CommandCall,
): Promise<Omit<RateList, 'drafts'> & { readonly drafts: readonly LabelledDraft[] }> {
  const { RATE_LIST_FORMATS, readRateList } = await import('../subjects/index.ts')
  const [file = ''] = call.operands
  const label = requireFlag(call, 'label')
  const text = (await readBytes('FILE', file)).toString('utf8')
  const named = call.flags.text('format')
  const list = readRateList(text, {
    now: call.clock(),
    rate: readNumber(call.flags.text('rate') ?? '0', '--rate'),
    expiresAt: readMomentFlag(call, 'expires', 'ahead'),
    format: named === undefined ? undefined : readWord(named, '--format', RATE_LIST_FORMATS),
  })
  const drafts = list.drafts.map(({ line, ...draft }) => ({ line, ...draft, label }))
  const mistakes = [...list.mistakes, ...(await faultsOf(drafts))]
  if (mistakes.length > 0) {
    for (const { line, message } of mistakes) call.terminal.err(`${file}:${line}: ${message}`)
    const rule = 'must hold rates that can be set; nothing was changed'
    const finding = `${mistakes.length} mistakes`
    throw new HeadgateError({ code: 'RATE_LIST_INVALID', thing: file, rule, finding })
  }
  return { ...list, drafts: drafts.map(({ line, ...draft }) => draft) }
}

/** What setting each would say, and subjects that are there twice. */
async function faultsOf(drafts: readonly (LabelledDraft & { readonly line: number })[]) {
  const { checkListed, normalForm } = await import('../subjects/index.ts')
  const first = new Map<string, number>()
  return drafts.flatMap(({ line, ...draft }) => {
    try {
      checkListed(draft)
      const form = normalForm(draft.subject)
      const before = first.get(form)
      if (before !== undefined)
        return [{ line, message: `names the subject of line ${before} again` }]
      first.set(form, line)
      return []
    } catch (error) {
      if (error instanceof HeadgateError) return [{ line, message: error.message }]
      throw error
    }
  })
}

interface Difference<Old extends RateDraft> {
  readonly added: readonly RateDraft[]
  readonly changed: readonly { readonly from: Old; readonly to: RateDraft }[]
  readonly unchanged: number
  /** In force under the label, and not in the file. */
  readonly unwanted: readonly Old[]
}

async function difference<Old extends RateDraft>(
  drafts: readonly RateDraft[],
  rates: readonly Old[],
): Promise<Difference<Old>> {
  const { normalForm, saysTheSame } = await import('../subjects/index.ts')
  const before = new Map(rates.map((rate) => [normalForm(rate.subject), rate]))
  const wanted = new Set(drafts.map(({ subject }) => normalForm(subject)))
  const pairs = drafts.map((to) => ({ to, from: before.get(normalForm(to.subject)) }))
  const changed = pairs.flatMap(({ to, from }) =>
    from === undefined || saysTheSame(from, to) ? [] : [{ from, to }],
  )
  const added = pairs.flatMap(({ to, from }) => (from === undefined ? [to] : []))
  return {
    added,
    changed,
    unchanged: drafts.length - added.length - changed.length,
    unwanted: rates.filter(({ subject }) => !wanted.has(normalForm(subject))),
  }
}

const isEmpty = ({ added, changed, unwanted }: Difference<RateDraft>): boolean =>
  added.length + changed.length + unwanted.length === 0

const shownDraft = ({ subject, rate, expiresAt, label, reason }: RateDraft) => ({
  subject,
  rate,
  ...(expiresAt !== undefined && { expires: Math.floor(expiresAt / 1_000_000) }),
  ...(label !== undefined && { label }),
  ...(reason !== undefined && { reason }),
})

const shownDifference = ({ added, changed, unwanted, unchanged }: Difference<RateDraft>) => ({
  added: added.map(shownDraft),
  changed: changed.map(({ from, to }) => ({ from: shownDraft(from), to: shownDraft(to) })),
  removed: unwanted.map(shownDraft),
  unchanged,
})

function describeDifference({
  added,
  changed,
  unwanted,
  unchanged,
}: Difference<RateDraft>): string {
  const lines = [
    ...added.map(({ subject, rate }) => `+ ${subject} ${rate}`),
    ...unwanted.map(({ subject, rate }) => `- ${subject} ${rate}`),
    ...changed.map(({ from, to }) => `~ ${to.subject} ${from.rate} → ${to.rate}`),
  ]
  return [...lines, `${unchanged} unchanged`].join('\n')
}

function describeImport(call: CommandCall, done: Difference<RateDraft>, skipped: number): string {
  if (call.flags.has('dry-run')) return describeDifference(done)
  const { added, changed, unwanted, unchanged } = done
  const counts = [
    `${added.length} added`,
    `${changed.length} changed`,
    `${unwanted.length} removed`,
    `${unchanged} unchanged`,
    ...(skipped > 0 ? [`${skipped} skipped: no ban, simulated, or ended`] : []),
  ]
  return counts.join(', ')
}
