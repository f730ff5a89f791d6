/** `headgate spending …`: what files will cost, what is held and was spent, bookings taken back, and the clock. */
import { toTimestamp } from '../lib/moments.ts'
import type { ApiOutput } from '../server/api.ts'
import type { ExchangeRate, FeeTableName } from '../spending/index.ts'
import { withSpending } from './api.ts'
import type { CliCommand } from './command.ts'
import {
  AFTER_FLAG,
  ASKING_FLAGS,
  type FlagValues,
  JSON_FLAG,
  LIMIT_FLAG,
  pickTexts,
  readMomentFlag,
  readWhole,
  readWord,
  refuseValue,
  requireFlag,
} from './flags.ts'
import { table, tell } from './terminal.ts'

/** As relays append to files: 5 KB at once. */
const CHUNK_SIZE = 5_120

const FEE_TABLES: readonly FeeTableName[] = ['current', 'legacy']

export const spendingCommands: readonly CliCommand[] = [
  {
    name: 'spending estimate',
    summary:
      'What storing call data in files will cost. Works offline, unless a mirror node is named.',
    operands: [{ name: 'SIZE' }],
    flags: [
      { name: 'chunk', value: 'BYTES', summary: `The size of one append; ${CHUNK_SIZE}.` },
      { name: 'rate', value: 'CENTS', summary: 'US cents for one HBAR.' },
      { name: 'mirror-node', value: 'URL', summary: 'Where to ask for the rate instead.' },
      { name: 'table', value: 'TABLE', summary: 'current or legacy fees; current.' },
      JSON_FLAG,
    ],
    run: async (call) => {
      const [size = ''] = call.operands
      const { flags } = call
      const callDataSize = readBytes(size, 'SIZE')
      const chunkSize = readBytes(flags.text('chunk') ?? String(CHUNK_SIZE), '--chunk')
      const fees = readWord(flags.text('table') ?? 'current', '--table', FEE_TABLES)
      const { estimateFileFee, formatAmount, HBAR } = await import('../spending/index.ts')
      const rate = await readRate(flags)
      const tinybars = estimateFileFee({ callDataSize, chunkSize, rate, table: fees })
      const body = { callDataSize, chunkSize, table: fees, tinybars: tinybars.toString() }
      tell(call, body, () => `${tinybars} tinybars (${formatAmount(tinybars, HBAR)})`)
      return 0
    },
  },
  {
    name: 'spending reverse',
    summary:
      'Take a booking back, whole or in part, by its operation id. The ledger says who and why.',
    operands: [{ name: 'OPERATION' }],
    flags: [
      { name: 'amount', value: 'AMOUNT', summary: 'All that is left of it, unless told.' },
      { name: 'reason', value: 'TEXT', summary: 'Kept in the ledger.' },
      { name: 'operation-id', value: 'ID', summary: 'The same id again takes nothing more back.' },
      ...ASKING_FLAGS,
    ],
    run: async (call) => {
      const [of = ''] = call.operands
      const amount = call.flags.text('amount')
      const operationId = call.flags.text('operation-id')
      const ask = {
        of,
        reason: requireFlag(call, 'reason'),
        ...(amount !== undefined && { amount }),
        ...(operationId !== undefined && { operationId }),
      }
      const done = await withSpending(call, (api) => api.ask('reverseSpending', ask))
      tell(call, done, ({ reversed, left }) => `${reversed} of ${of} taken back, ${left} left`)
      return 0
    },
  },
  {
    name: 'spending holds',
    onlyLooks: true,
    summary: 'The holds that are open; those that end first come first.',
    operands: [],
    flags: [
      { name: 'plan', value: 'PLAN', summary: 'Only those that this plan pays for.' },
      { name: 'member', value: 'MEMBER', summary: 'Only those for this member.' },
      AFTER_FLAG,
      LIMIT_FLAG,
      ...ASKING_FLAGS,
    ],
    run: async (call) => {
      const limit = readWhole(call.flags, 'limit', { least: 1, most: 1_000 })
      const ask = {
        ...pickTexts(call.flags, ['plan', 'member', 'after']),
        ...(limit !== undefined && { limit: String(limit) }),
      }
      tell(call, await withSpending(call, (api) => api.ask('listHolds', ask)), describeHolds)
      return 0
    },
  },
  {
    name: 'spending report',
    onlyLooks: true,
    summary: 'What the money of a window was spent on. The sums add up.',
    operands: [],
    flags: [
      { name: 'window', value: 'START', summary: 'When the window started; the current one.' },
      ...ASKING_FLAGS,
    ],
    run: async (call) => {
      const start = readMomentFlag(call, 'window', 'ago')
      const ask = start === undefined ? {} : { window: toTimestamp(start) }
      const report = await withSpending(call, (api) => api.ask('reportSpending', ask))
      const { formatAllowance } = await import('../spending/index.ts')
      tell(call, report, () =>
        describeReport(report, (amount) => formatAllowance(BigInt(amount), report.unit)),
      )
      return 0
    },
  },
  {
    name: 'spending clock repair',
    summary: 'Accept the clock as it is now, where spending does not trust it.',
    operands: [],
    flags: [{ name: 'reason', value: 'TEXT', summary: 'Kept in the ledger.' }, ...ASKING_FLAGS],
    run: async (call) => {
      const reason = call.flags.text('reason')
      const ask = reason === undefined ? {} : { reason }
      const told = await withSpending(call, (api) => api.ask('repairClock', ask))
      tell(call, told, () =>
        told.repaired
          ? `${told.found}; accepted as it is now, ${told.now}`
          : 'the clock is trusted: nothing was changed',
      )
      return 0
    },
  },
]

async function readRate(flags: FlagValues): Promise<ExchangeRate | undefined> {
  const url = flags.text('mirror-node')
  if (url !== undefined) {
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      return refuseValue('--mirror-node', 'must be an http or https address', url)
    }
    const { createMirrorNode } = await import('../spending/index.ts')
    return createMirrorNode({ url }).exchangeRate()
  }
  const text = flags.text('rate')
  if (text === undefined) return undefined
  if (!/^\d{1,9}(?:\.\d{1,12})?$/.test(text)) {
    return refuseValue('--rate', 'must be cents, such as 12 or 4.3', text)
  }
  const { rateOf } = await import('../spending/index.ts')
  return rateOf(Number(text))
}

function readBytes(text: string, thing: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  return refuseValue(thing, 'must be a whole number of bytes', text)
}

const HOLD_HEADINGS = ['HOLD', 'PLAN', 'MEMBER', 'OPERATION', 'OPEN', 'CAPTURED', 'ENDS']

function describeHolds({ holds, next }: ApiOutput<'listHolds'>): string {
  const rows = holds.map((hold) => [
    hold.holdId,
    hold.plan ?? '',
    hold.member ?? '',
    hold.operation,
    hold.open,
    hold.captured,
    hold.expiresAt,
  ])
  const more = next === undefined ? [] : ['', `more: --after ${next}`]
  return [table([HOLD_HEADINGS, ...rows]), ...more].join('\n')
}

function describeReport(
  report: ApiOutput<'reportSpending'>,
  format: (amount: string) => string,
): string {
  const rows = (title: string, sums: Readonly<Record<string, string>>) =>
    Object.entries(sums).map(([name, amount]) => [title, name, format(amount)])
  return table([
    ['window', report.window, ''],
    ['total', '', format(report.total)],
    ...rows('operation', report.byOperation),
    ...rows('family', report.byFamily),
    ...rows('mode', report.byMode),
    ...rows('tier', report.byTier),
  ])
}
