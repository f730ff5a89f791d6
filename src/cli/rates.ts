/** `headgate rates …`: the rates of subjects, each command one invocation of the service of rates. */
import { describeSeconds, inSeconds } from '../lib/moments.ts'
import type { ApiOutput } from '../server/api.ts'
import type { ClientResult, RatesClient, WireDraft } from '../subjects/index.ts'
import { withSubjects } from './api.ts'
import type { CliCommand, CommandCall, ExitCode, FlagSpec, Operand } from './command.ts'
import {
  AFTER_FLAG,
  ASKING_FLAGS,
  JSON_FLAG,
  LIMIT_FLAG,
  LOCAL_FLAGS,
  readMomentFlag,
  readNumber,
  requireFlag,
  SERVER_FLAG,
} from './flags.ts'
import { KEY_FLAG, PROOF_FLAG, withRates } from './rates-client.ts'
import { pageTable, table, tell } from './terminal.ts'

/** What the service answered, before its fields are checked. */
type Done = Readonly<Record<string, unknown>>

interface RatesAct
  extends Pick<CliCommand, 'name' | 'summary' | 'operands' | 'flags' | 'onlyLooks'> {
  /** Before anything is opened or asked. */
  check?(call: CommandCall): Promise<void>
  ask(rates: RatesClient, call: CommandCall): Promise<ClientResult>
  describe(done: Done, call: CommandCall): string
}

export const ratesCommand = ({ check, ask, describe, ...command }: RatesAct): CliCommand => ({
  ...command,
  flags: [...command.flags, KEY_FLAG, PROOF_FLAG, SERVER_FLAG, ...LOCAL_FLAGS, JSON_FLAG],
  run: async (call) => {
    await check?.(call)
    const result = await withRates(call, (rates) => ask(rates, call))
    if (result.error !== undefined) return tellRefusal(call, result.error)
    const warning = fieldText(result.ok, 'warning')
    if (warning !== '' && !call.flags.has('json')) call.terminal.err(`warning: ${warning}`)
    tell(call, result.ok, (done) => describe(done, call))
    return 0
  },
})

/** The caller's mistakes and the service's troubles; every other name is a refusal. */
const ERRORS = ['MalformedCapability', 'HandlerExecutionError']

/** By the names that go over the wire: each has a row in docs/guide/subjects.md. */
export const tellRefusal = (
  call: CommandCall,
  error: NonNullable<ClientResult['error']>,
): ExitCode => {
  const isError = ERRORS.includes(error.name)
  if (call.flags.has('json')) tell(call, { error }, () => '')
  else call.terminal.err(`${isError ? 'error' : 'refused'} ${error.name}: ${error.message}`)
  return isError ? 1 : 2
}

const DRAFT_OPERANDS: readonly Operand[] = [{ name: 'SUBJECT' }, { name: 'RATE' }]

const DRAFT_FLAGS: readonly FlagSpec[] = [
  { name: 'expires', value: 'WHEN', summary: 'When it ends: 7d, or a date and time.' },
  { name: 'reason', value: 'TEXT', summary: 'Why; shown to anyone who looks the rate up.' },
]

export const LABEL_FLAG: FlagSpec = {
  name: 'label',
  value: 'LABEL',
  summary: 'Whose rate it is, such as fraud or billing.',
}

export const rateCommands: readonly CliCommand[] = [
  ratesCommand({
    name: 'rates add',
    summary: 'Set a rate for a subject, beside those it has. 0 or less blocks.',
    operands: DRAFT_OPERANDS,
    flags: [
      ...DRAFT_FLAGS,
      LABEL_FLAG,
      { name: 'force', summary: 'Cover a public suffix, or a range as wide.' },
    ],
    check: checkDraftSubject,
    ask: (rates, call) => rates.add({ ...readDraft(call), ...readForce(call) }),
    describe: (done) => `added ${fieldText(done, 'id')}`,
  }),
  ratesCommand({
    name: 'rates set',
    summary: 'Replace the rate of a subject under a label. Loosens a block only with --force.',
    operands: DRAFT_OPERANDS,
    flags: [
      LABEL_FLAG,
      ...DRAFT_FLAGS,
      { name: 'force', summary: 'Loosen or shorten a block, or cover a public suffix.' },
    ],
    check: checkDraftSubject,
    ask: (rates, call) => {
      const label = requireFlag(call, 'label')
      return rates.set({ ...readDraft(call), label, ...readForce(call) })
    },
    describe: (done) => {
      const replaced = fieldRecords(done, 'replaced').map((rate) => fieldText(rate, 'id'))
      const instead = replaced.length === 0 ? '' : ` in place of ${replaced.join(', ')}`
      return `set ${fieldText(done, 'id')}${instead}`
    },
  }),
  ratesCommand({
    name: 'rates list',
    onlyLooks: true,
    summary: 'The rates that were set for a subject, in any spelling.',
    operands: [{ name: 'SUBJECT' }],
    flags: [],
    ask: (rates, { operands: [subject = ''] }) => rates.list(subject),
    describe: (done) => {
      const rows = fieldRecords(done, 'limits').map((rate) => [
        fieldText(rate, 'id'),
        fieldText(rate, 'rate'),
      ])
      return pageTable(['ID', 'RATE'], rows, undefined)
    },
  }),
  ratesCommand({
    name: 'rates get',
    onlyLooks: true,
    summary: 'One rate: its value, who set it, and by what right.',
    operands: [{ name: 'ID' }],
    flags: [],
    ask: (rates, { operands: [id = ''] }) => rates.get(id),
    describe: describeOne,
  }),
  {
    name: 'rates explain',
    onlyLooks: true,
    summary:
      'Which rates apply to a subject, through which form, by whose right, and what they refused.',
    operands: [{ name: 'SUBJECT' }],
    flags: ASKING_FLAGS,
    run: async (call) => {
      const [subject = ''] = call.operands
      const found = await withSubjects(call, (api) => api.ask('showSubject', { subject }))
      tell(call, found, explained)
      return 0
    },
  },
  ratesCommand({
    name: 'rates remove',
    summary: 'Remove rates: all of the ids, or none.',
    operands: [{ name: 'ID', many: true }],
    flags: [],
    ask: (rates, { operands: [id = '', ...others] }) =>
      rates.remove(others.length === 0 ? id : [id, ...others]),
    describe: (_, { operands }) => `removed ${operands.join(', ')}`,
  }),
  ratesCommand({
    name: 'rates query',
    onlyLooks: true,
    summary: 'The rates in force, page by page.',
    operands: [],
    flags: [
      { name: 'prefix', value: 'TEXT', summary: 'How the subject begins, as it was spelled.' },
      LABEL_FLAG,
      { name: 'since', value: 'WHEN', summary: 'Set since then: 7d ago, or a date and time.' },
      { name: 'until', value: 'WHEN', summary: 'Set before then.' },
      AFTER_FLAG,
      LIMIT_FLAG,
    ],
    ask: (rates, call) => rates.query(readQuery(call)),
    describe: (page) => {
      const rows = fieldRecords(page, 'rates').map(toRateRow)
      return pageTable(RATE_HEADINGS, rows, nextOf(page))
    },
  }),
  ratesCommand({
    name: 'rates history',
    onlyLooks: true,
    summary: 'Who changed what, when and by what right; oldest first.',
    operands: [],
    flags: [
      { name: 'subject', value: 'SUBJECT', summary: 'Only of this subject, in any spelling.' },
      AFTER_FLAG,
      LIMIT_FLAG,
    ],
    ask: (rates, call) => rates.history(readHistoryQuery(call)),
    describe: (page) => {
      const rows = fieldRecords(page, 'entries').map(toChangeRow)
      return pageTable(CHANGE_HEADINGS, rows, nextOf(page))
    },
  }),
]

function readDraft(call: CommandCall): WireDraft {
  const [subject = '', rate = ''] = call.operands
  const expires = readMomentFlag(call, 'expires', 'ahead')
  const reason = call.flags.text('reason')
  const label = call.flags.text('label')
  return {
    subject,
    rate: readNumber(rate, 'RATE'),
    ...(expires !== undefined && { expires: inSeconds(expires) }),
    ...(reason !== undefined && { reason }),
    ...(label !== undefined && { label }),
  }
}

/** The service records what can match nothing; whoever types it is told at once. */
async function checkDraftSubject({ operands: [subject = ''] }: CommandCall): Promise<void> {
  const { checkMatchable } = await import('../subjects/index.ts')
  checkMatchable(subject)
}

const readForce = ({ flags }: CommandCall) => (flags.has('force') ? { force: true } : {})

type Query = Readonly<Record<string, string | number>>

function readQuery(call: CommandCall): Query {
  const { flags } = call
  const since = readMomentFlag(call, 'since', 'ago')
  const until = readMomentFlag(call, 'until', 'ago')
  const [prefix, label, after] = [flags.text('prefix'), flags.text('label'), flags.text('after')]
  return {
    ...(prefix !== undefined && { prefix }),
    ...(label !== undefined && { label }),
    ...(since !== undefined && { since: inSeconds(since) }),
    ...(until !== undefined && { until: inSeconds(until) }),
    ...(after !== undefined && { after }),
    ...readLimit(call),
  }
}

function readHistoryQuery(call: CommandCall): Query {
  const subject = call.flags.text('subject')
  const after = call.flags.text('after')
  return {
    ...(subject !== undefined && { subject }),
    ...(after !== undefined && { after: readNumber(after, '--after') }),
    ...readLimit(call),
  }
}

function readLimit({ flags }: CommandCall): Query {
  const text = flags.text('limit')
  return text === undefined ? {} : { limit: readNumber(text, '--limit') }
}

function describeOne(rate: Done): string {
  const by = toRecord(rate['by'])
  const chain = Array.isArray(by['chain']) ? by['chain'].map(String) : []
  const rows = [
    ['id', fieldText(rate, 'id')],
    ['subject', fieldText(rate, 'subject')],
    ['rate', fieldText(rate, 'rate')],
    ['label', fieldText(rate, 'label')],
    ['reason', fieldText(rate, 'reason')],
    ['expires', fieldMoment(rate, 'expires')],
    ['set', fieldMoment(rate, 'at')],
    ['by', fieldText(by, 'issuer')],
    ['by right of', chain.join(', ')],
    ['invocation', fieldText(rate, 'cause')],
  ]
  return table(rows.filter(([, value]) => value !== ''))
}

const explained = ({ subject, blocked, rate, rates }: ApiOutput<'showSubject'>): string => {
  const slowed = rate === undefined ? 'no rate applies' : `its rate is ${rate}`
  const rows = rates.map((each) => [
    each.matched,
    String(each.rate),
    each.refused === undefined
      ? 'never'
      : `${each.refused.count} times, last ${describeSeconds(each.refused.last)}`,
    each.expires === undefined ? 'never' : describeSeconds(each.expires),
    each.by.chain.length === 0 ? each.by.issuer : `${each.by.issuer} by delegation`,
    each.label ?? '',
    each.reason ?? '',
    each.id,
  ])
  const verdict = `${subject}: ${blocked ? 'blocked' : slowed}`
  return rows.length === 0 ? verdict : [verdict, '', table([EXPLAIN_HEADINGS, ...rows])].join('\n')
}

const EXPLAIN_HEADINGS = ['MATCHES', 'RATE', 'REFUSED', 'ENDS', 'SET BY', 'LABEL', 'REASON', 'ID']

const RATE_HEADINGS = ['ID', 'SUBJECT', 'RATE', 'LABEL', 'EXPIRES', 'REASON']

const toRateRow = (rate: Done): readonly string[] => [
  fieldText(rate, 'id'),
  fieldText(rate, 'subject'),
  fieldText(rate, 'rate'),
  fieldText(rate, 'label'),
  fieldMoment(rate, 'expires'),
  fieldText(rate, 'reason'),
]

const CHANGE_HEADINGS = ['N', 'WHEN', 'CHANGE', 'WHAT', 'BY']

const toChangeRow = (entry: Done): readonly string[] => [
  fieldText(entry, 'position'),
  fieldMoment(entry, 'at'),
  fieldText(entry, 'kind'),
  [
    ...named('+', fieldRecords(entry, 'added')),
    ...named('-', fieldRecords(entry, 'removed')),
    ...revokedIn(entry),
  ].join(', '),
  fieldText(toRecord(entry['by']), 'issuer'),
]

const named = (sign: string, rates: readonly Done[]): readonly string[] =>
  rates.map((rate) =>
    [`${sign}${fieldText(rate, 'id')}`, fieldText(rate, 'subject'), fieldText(rate, 'rate')].join(
      ' ',
    ),
  )

function revokedIn(entry: Done): readonly string[] {
  const revoked = toRecord(entry['revoked'])
  const fingerprint = fieldText(revoked, 'fingerprint')
  return fingerprint === '' ? [] : [`${fingerprint} of ${fieldText(revoked, 'audience')}`]
}

function fieldText(record: Done, name: string): string {
  const value = record[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** Of a field that counts seconds since the epoch. */
export const fieldMoment = (record: Done, name: string): string => {
  const value = record[name]
  return typeof value === 'number' ? describeSeconds(value) : ''
}

function fieldRecords(record: Done, name: string): readonly Done[] {
  const list = record[name]
  return Array.isArray(list) ? list.map((item: unknown) => toRecord(item)) : []
}

const toRecord = (value: unknown): Done =>
  typeof value === 'object' && value !== null ? { ...value } : {}

/** Where the next page begins; undefined on the last. */
function nextOf(page: Done): string | undefined {
  const next = fieldText(page, 'next')
  return next === '' ? undefined : next
}
