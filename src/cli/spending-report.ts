/** `headgate spending report`: what the money of a window was spent on. */
import { formatAmount, type Unit } from '../spending/amount.ts'
import { toTimestamp } from '../spending/timestamp.ts'
import type { Command } from './command.ts'
import { readMoment } from './moments.ts'
import { getBody, PLANS_FLAGS, tell } from './plans-api.ts'
import { table } from './terminal.ts'

type Sums = Readonly<Record<string, string>>

interface ReportBody {
  readonly window: string
  readonly unit: Unit
  readonly total: string
  readonly byOperation: Sums
  readonly byFamily: Sums
  readonly byMode: Sums
  readonly byTier: Sums
}

export const spendingReport: Command = {
  name: 'spending report',
  summary: 'What the money of a window was spent on. The sums add up.',
  operands: [],
  flags: [
    { name: 'window', value: 'START', summary: 'When the window started; the current one.' },
    ...PLANS_FLAGS,
  ],
  run: async (call) => {
    const start = readMoment(call.flags, 'window', 'ago')
    const query = start === undefined ? '' : `?window=${encodeURIComponent(toTimestamp(start))}`
    const path = `/v1/spending/report${query}`
    tell(call, await getBody<ReportBody>(call, path, ['window', 'total', 'unit']), describe)
    return 0
  },
}

function describe(report: ReportBody): string {
  const { unit, byOperation, byFamily, byMode, byTier } = report
  const rows = (title: string, sums: Sums) =>
    Object.entries(sums).map(([name, amount]) => [title, name, format(amount, unit)])
  return table([
    ['window', report.window, ''],
    ['total', '', format(report.total, unit)],
    ...rows('operation', byOperation),
    ...rows('family', byFamily),
    ...rows('mode', byMode),
    ...rows('tier', byTier),
  ])
}

const format = (amount: string, unit: Unit): string => formatAmount(BigInt(amount), unit)
