/**
 * Lists of rates as other tools write them, and as `headgate rates export` does: CSV with a header,
 * CrowdSec's decisions (CSV or JSON), fail2ban's bans, or a subject a line.
 *
 * A list is read whole before anything is done with it, and all its mistakes are told at once.
 */
import { parseDuration } from '../../core/duration.ts'
import { quote } from '../../core/errors.ts'
import { after, type Instant, instant } from '../../core/time.ts'
import { parseMoment } from '../../lib/moments.ts'
import type { RateDraft } from './rate.ts'

export interface ListedDraft extends RateDraft {
  /** Where it is written, from 1; the number of the entry where the list has no lines. */
  readonly line: number
}

export interface ListMistake {
  readonly line: number
  readonly message: string
}

export interface RateList {
  readonly format: RateListFormat
  readonly drafts: readonly ListedDraft[]
  readonly mistakes: readonly ListMistake[]
  /** Entries that are no block in force: other actions than a ban, simulated, or ended. */
  readonly skipped: number
}

export const RATE_LIST_FORMATS = ['csv', 'crowdsec', 'fail2ban', 'lines'] as const
export type RateListFormat = (typeof RATE_LIST_FORMATS)[number]

interface ReadOptions {
  /** Ends of durations count from here. */
  readonly now: Instant
  /** For entries that tell none. */
  readonly rate: number
  readonly expiresAt?: Instant | undefined
  readonly format?: RateListFormat | undefined
}

export const readRateList = (text: string, options: ReadOptions): RateList => {
  const clean = text.replace(/^\uFEFF/, '')
  const format = options.format ?? formatOf(clean)
  const entries = entriesOf(clean, format)
  const read = entries.map((entry) => readEntry(entry, options))
  return {
    format,
    drafts: read.flatMap((one) => ('subject' in one ? [one] : [])),
    mistakes: read.flatMap((one) => ('message' in one ? [one] : [])),
    skipped: read.filter((one) => 'skipped' in one).length,
  }
}

export const writeRateList = (rates: readonly RateDraft[]): string =>
  [CSV_FIELDS, ...rates.map(toCells)].map((cells) => `${cells.map(quoted).join(',')}\n`).join('')

const CSV_FIELDS = ['subject', 'rate', 'expires', 'label', 'reason']

const toCells = ({ subject, rate, expiresAt, label = '', reason = '' }: RateDraft): string[] => [
  subject,
  String(rate),
  expiresAt === undefined ? '' : new Date(Math.floor(expiresAt / 1_000)).toISOString(),
  label,
  reason,
]

const quoted = (cell: string): string =>
  /[",\r\n]|^\s|\s$|^#/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
/** An entry by the names of its fields, in whichever format it was written. */
interface ListEntry {
  readonly line: number
  readonly fields: Readonly<Record<string, string>>
}

function formatOf(text: string): RateListFormat {
  const first = text.split('\n').find((line) => line.trim() !== '' && !line.startsWith('#')) ?? ''
  if (/^\s*\[\s*\{\s*'/.test(text) || /\s\+\s-?\d+\s=\s/.test(first)) return 'fail2ban'
  if (/^\s*[[{]/.test(text)) return 'crowdsec'
  const names = first
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
  if (names.includes('subject')) return 'csv'
  return names.length > 1 && (names.includes('value') || names.includes('ip'))
    ? 'crowdsec'
    : 'lines'
}

function entriesOf(text: string, format: RateListFormat): readonly ListEntry[] {
  switch (format) {
    case 'csv':
      return csvEntries(text)
    case 'crowdsec':
      return /^\s*[[{]/.test(text) ? jsonEntries(text) : csvEntries(text)
    case 'fail2ban':
      return text.trimStart().startsWith('[') ? bannedEntries(text) : lineEntries(text)
    case 'lines':
      return lineEntries(text)
    default:
      return format satisfies never
  }
}

/** RFC 4180, with lines that begin with # as comments. */
function csvEntries(text: string): readonly ListEntry[] {
  const rows = csvRows(text).filter(({ cells }) => cells.length > 1 || cells[0]?.trim() !== '')
  const [head, ...rest] = rows
  const names = head?.cells.map((name) => name.trim().toLowerCase()) ?? []
  return rest.map(({ line, cells }) => ({
    line,
    fields: Object.fromEntries(names.map((name, at) => [name, cells[at]?.trim() ?? ''])),
  }))
}

/** A cell with its end: quoted, or up to the next comma or line. */
const CELL = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|\r|$)/y

function csvRows(text: string) {
  const rows: { readonly line: number; readonly cells: readonly string[] }[] = []
  let cells: string[] = []
  let [line, began, beganAt] = [1, 1, 0]
  for (CELL.lastIndex = 0; CELL.lastIndex < text.length; ) {
    const [whole, inQuotes, plain = '', end = ''] = nextCell(text)
    cells.push(inQuotes?.replaceAll('""', '"') ?? plain)
    line += whole.split('\n').length - 1
    if (end === ',' && CELL.lastIndex < text.length) continue
    if (text[beganAt] !== '#') rows.push({ line: began, cells })
    cells = []
    began = line
    beganAt = CELL.lastIndex
  }
  return rows
}

/** After a closing quote, text goes on: the rest of the line is taken as it is, as people meant it. */
function nextCell(text: string): readonly [string, ...(string | undefined)[]] {
  const at = CELL.lastIndex
  const found = CELL.exec(text)
  if (found !== null) return [found[0], ...found.slice(1)]
  const stop = text.indexOf('\n', at)
  const whole = text.slice(at, stop < 0 ? text.length : stop + 1)
  CELL.lastIndex = at + whole.length
  return [whole, undefined, whole.trimEnd(), '\n']
}

/** What `cscli decisions list -o json` prints, alerts with their decisions, or a list of decisions. */
function jsonEntries(text: string): readonly ListEntry[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return [{ line: 1, fields: { mistake: error instanceof Error ? error.message : 'no JSON' } }]
  }
  const alerts: unknown[] = Array.isArray(value) ? value : [value]
  const decisions = alerts.flatMap((alert): unknown[] => {
    const { decisions: own }: Partial<Record<string, unknown>> = Object(alert)
    return Array.isArray(own) ? own : [alert]
  })
  return decisions.map((decision, at) => ({
    line: at + 1,
    fields: Object.fromEntries(
      Object.entries(Object(decision)).map(([name, field]) => [name, plainField(field)]),
    ),
  }))
}

/** A list or a map is no field of ours, and cannot always be written as text. */
const plainField = (field: unknown): string => (typeof field === 'object' ? '' : String(field))

/** What `fail2ban-client banned` prints: jails with their addresses, in Python's notation. */
function bannedEntries(text: string): readonly ListEntry[] {
  return [...text.matchAll(/'([^']*)'\s*:\s*\[([^[\]]*)\]/g)]
    .flatMap(([, jail = '', list = '']) =>
      [...list.matchAll(/'([^']*)'/g)].map(([, value = '']) => ({ value, reason: jail })),
    )
    .map((fields, at) => ({ line: at + 1, fields }))
}

/** `192.0.2.7`, or as `fail2ban-client get JAIL banip --with-time` prints it, with the ban's end. */
function lineEntries(text: string): readonly ListEntry[] {
  return text.split(/\r?\n|\r/).flatMap((whole, at) => {
    const words = whole.replace(/(?:^|\s)[#;].*$/, '').trim()
    if (words === '') return []
    const [, value = words, until = ''] =
      /^(\S+)\s.*\+\s-?\d+\s=\s(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)$/.exec(words) ?? []
    return [{ line: at + 1, fields: { value, until } }]
  })
}

/** Ends are rounded up to seconds, as UCAN tells them: what is exported and read again is the same. */
const SECOND = 1_000_000

type ReadEntry = ListedDraft | ListMistake | { readonly skipped: true }

function readEntry({ line, fields }: ListEntry, options: ReadOptions): ReadEntry {
  const { rate: rateText = '', label = '' } = fields
  const reason = fields['reason'] || fields['scenario'] || ''
  const [scope = '', value = ''] = subjectOf(fields)
  const mistake = (message: string): ListMistake => ({ line, message })
  if (fields['mistake'] !== undefined) return mistake(fields['mistake'])
  const action = (fields['type'] || fields['action'] || 'ban').toLowerCase()
  if (action !== 'ban' || fields['simulated'] === 'true') return { skipped: true }
  if (value === '') return mistake('names no subject')
  if (!['', 'ip', 'range'].includes(scope)) {
    return mistake(`scope ${quote(scope)} is neither an address nor a range`)
  }
  const rate = rateText === '' ? options.rate : Number(rateText)
  if (!Number.isFinite(rate)) return mistake(`rate must be a number, found ${quote(rateText)}`)
  const ends = endOf(fields, options)
  if (ends === 'unreadable') return mistake(`${quote(endText(fields))} is no moment`)
  if (ends !== undefined && ends <= options.now) return { skipped: true }
  return {
    line,
    subject: value,
    rate,
    ...(ends !== undefined && { expiresAt: instant(Math.ceil(ends / SECOND) * SECOND) }),
    ...(label !== '' && { label }),
    ...(reason !== '' && { reason }),
  }
}

/** Its scope and its text. CrowdSec's list writes both into one column, `Ip:192.0.2.7`. */
function subjectOf(fields: ListEntry['fields']): readonly [string, string] {
  const { subject, value, ip = '' } = fields
  if (subject !== undefined) return ['', subject]
  const scope = (fields['scope'] ?? '').toLowerCase()
  if (value !== undefined) return [scope, value]
  const [, named, rest] = /^(ip|range|country|as|username):(.*)$/i.exec(ip) ?? []
  return rest === undefined || named === undefined ? [scope, ip] : [named.toLowerCase(), rest]
}

const endText = ({ expires, expiration, duration, until }: ListEntry['fields']): string =>
  expires || expiration || duration || until || ''

/** CrowdSec tells a duration, fail2ban the local time of its machine, which should be this one. */
function endOf(fields: ListEntry['fields'], options: ReadOptions) {
  const text = endText(fields)
  if (text === '') return options.expiresAt
  if (text === fields['until']) {
    if (text.startsWith('9999-')) return undefined
    const local = Date.parse(text.replace(' ', 'T'))
    return Number.isNaN(local) ? 'unreadable' : instant(local * 1_000)
  }
  const length = parseDuration(text)
  if (length !== undefined) return after(options.now, length)
  return parseMoment(text, options.now, 'ahead') ?? 'unreadable'
}
