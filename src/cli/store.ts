/** `headgate store …`: a store moved, fenced, checked and copied as a whole. */
import type { Store } from '../core/store.ts'
import { describeStoreUrl, parseStoreUrl } from '../server/api.ts'
import type { MoveOutcome, MoveProgress } from '../stores/moving/index.ts'
import type { CliCommand, CommandCall } from './command.ts'
import { JSON_FLAG } from './flags.ts'
import { table, tell } from './terminal.ts'

const URL_OPERAND = { name: 'URL' }
const FILE_OPERAND = { name: 'FILE' }

export const storeCommands: readonly CliCommand[] = [
  {
    name: 'store export',
    summary:
      'Fence a store, so that its servers answer that it is down, and take all of it into a file.',
    operands: [URL_OPERAND, FILE_OPERAND],
    flags: [JSON_FLAG],
    run: exportTo,
  },
  {
    name: 'store import',
    summary: 'Fill an empty store from such a file, compare, and let servers use it.',
    operands: [FILE_OPERAND, URL_OPERAND],
    flags: [JSON_FLAG],
    run: importFrom,
  },
  {
    name: 'store unfence',
    summary: 'Let servers use a store again, by the name of its fence.',
    operands: [URL_OPERAND, { name: 'FENCE' }],
    flags: [JSON_FLAG],
    run: unfence,
  },
  {
    name: 'store check',
    summary: 'What a store is like, and whether it has what Headgate needs; exit 1 if not.',
    operands: [URL_OPERAND],
    flags: [JSON_FLAG],
    run: check,
  },
  {
    name: 'store backup',
    summary: 'A checked copy of a SQLite file, which servers may use meanwhile.',
    operands: [URL_OPERAND, FILE_OPERAND],
    flags: [JSON_FLAG],
    run: backup,
  },
]

async function exportTo(call: CommandCall): Promise<0> {
  const [url = '', file = ''] = call.operands
  const { describeSummary, exportStore } = await import('../stores/moving/index.ts')
  const outcome = await onStore(url, false, (store) => exportStore(store, file, progressOn(call)))
  tell(call, { file, ...outcome }, ({ fence }) =>
    [
      ...describeContinued(outcome),
      `${file}: ${describeSummary(outcome)}`,
      `the store stays fenced; headgate store unfence URL ${fence} ends that`,
    ].join('\n'),
  )
  return 0
}

async function importFrom(call: CommandCall): Promise<0> {
  const [file = '', url = ''] = call.operands
  const { describeSummary, importStore } = await import('../stores/moving/index.ts')
  const outcome = await onStore(url, true, (store) => importStore(store, file, progressOn(call)))
  tell(call, { store: describeStoreUrl(url), ...outcome }, () =>
    [
      ...describeContinued(outcome),
      `${describeSummary(outcome)}: all as in the file; servers may use the store`,
    ].join('\n'),
  )
  return 0
}

async function unfence(call: CommandCall): Promise<0> {
  const [url = '', name = ''] = call.operands
  const { unfenceStore } = await import('../stores/moving/index.ts')
  const fence = await onStore(url, false, (store) => unfenceStore(store, name))
  tell(call, { fence: fence ?? null }, () =>
    fence === undefined ? 'there was no fence' : `gone: ${fence}`,
  )
  return 0
}

async function check(call: CommandCall): Promise<0 | 1> {
  const [url = ''] = call.operands
  checkUrl(url)
  const { checkStore } = await import('../server/local.ts')
  const report = await checkStore(url)
  tell(call, { fit: report.faults.length === 0, ...report }, () => describeReport(report))
  return report.faults.length === 0 ? 0 : 1
}

async function backup(call: CommandCall): Promise<0> {
  const [url = '', file = ''] = call.operands
  checkUrl(url)
  const { backupStore } = await import('../server/local.ts')
  tell(
    call,
    { file, ...backupStore(url, file) },
    ({ keys, entries, bytes }) => `${file}: ${keys} keys, ${entries} entries, ${bytes} bytes`,
  )
  return 0
}

async function onStore<T>(
  url: string,
  create: boolean,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  checkUrl(url)
  const { openWholeStore } = await import('../server/local.ts')
  const store = await openWholeStore(url, create)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const checkUrl = (url: string): void => {
  parseStoreUrl(url, { thing: 'URL' })
}

const describeContinued = ({ continued }: MoveOutcome): readonly string[] =>
  continued > 0 ? [`went on after ${continued} records of an earlier try`] : []

type Report = Awaited<ReturnType<typeof import('../server/local.ts')['checkStore']>>

function describeReport(report: Report): string {
  const { store, faults, losses, fence, keys, clockAheadMs, answers, facts } = report
  const rows: [string, string][] = Object.entries(facts).map(([name, value]) => [
    name,
    String(value),
  ])
  if (keys !== undefined) rows.push(['keys', `about ${keys}`])
  if (clockAheadMs !== undefined) rows.push(['clock', `${clockAheadMs} ms ahead of this machine`])
  if (answers !== undefined) {
    const { asked, medianMs, slowestMs } = answers
    rows.push(['answers', `median ${medianMs} ms, slowest ${slowestMs} ms, of ${asked}`])
  }
  rows.push(
    ['fence', fence ?? 'none'],
    ['money, PINs', losses.length === 0 ? 'taken' : `refused: ${losses.join('; ')}`],
    ['fit', faults.length === 0 ? 'yes' : `no: ${faults.join('; ')}`],
  )
  return [store, table(rows.map(([name, value]) => [`  ${name}`, value]))].join('\n')
}

// How far it came: a bar that a person watches, or now and then a line on standard error.

const BAR = 30

/** A line each time that a tenth more is done, where no person watches. */
const LINES = 10

function progressOn({ flags, terminal }: CommandCall): (progress: MoveProgress) => void {
  let told = ''
  return (progress) => {
    const { doing, done, total } = progress
    const part = total === 0 ? 1 : done / total
    if (terminal.status !== undefined && !flags.has('json')) {
      const bar = '#'.repeat(Math.floor(part * BAR)).padEnd(BAR, '.')
      terminal.status(`${doing} [${bar}] ${done} of ${total}`)
      return
    }
    const line = `${doing}: ${Math.floor(part * LINES) * (100 / LINES)} %`
    if (line === told) return
    told = line
    terminal.err(flags.has('json') ? JSON.stringify({ progress }) : line)
  }
}
