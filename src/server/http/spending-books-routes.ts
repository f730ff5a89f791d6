/** `/v1/spending/report`, `/verify`, `/ledger`, `/balance` and `/window`: the books, and who keeps them. */
import { Readable } from 'node:stream'
import type { SpendingReport, Verification } from '../../spending/index.ts'
import { parseAmount } from '../../spending/index.ts'
import { requestAccess, requireAdmin } from './access.ts'
import type { App, HttpContext } from './context.ts'
import { toMoment } from './spending-body.ts'
import {
  BALANCE_SCHEMA,
  LEDGER_SCHEMA,
  REPORT_SCHEMA,
  TURN_SCHEMA,
  VERIFY_SCHEMA,
} from './spending-books-schema.ts'
import { readMoment } from './spending-moment.ts'
import { requireDesk } from './spending-off.ts'

export const spendingBooksRoutes = (app: App, context: HttpContext): void => {
  app.get('/v1/spending/report', { schema: REPORT_SCHEMA }, async ({ query: { window } }) => {
    const { spending, settings } = requireDesk(context)
    const start = window === undefined ? undefined : readMoment(window, 'window', 'QUERY_INVALID')
    return { ...toReportBody(await spending.report(start)), unit: settings().unit }
  })

  app.get('/v1/spending/verify', { schema: VERIFY_SCHEMA }, async (request) => {
    requireAdmin(requestAccess(request), 'a verification')
    return toVerificationBody(await requireDesk(context).verify())
  })

  app.get('/v1/spending/ledger', { schema: LEDGER_SCHEMA }, async (request, reply) => {
    requireAdmin(requestAccess(request), 'an export of the ledger')
    const { format = 'jsonl' } = request.query
    const lines = requireDesk(context).spending.export(format)
    reply.type(format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl')
    return reply.send(Readable.from(withLineEnds(lines)))
  })

  app.post('/v1/spending/balance', { schema: BALANCE_SCHEMA }, async (request) => {
    requireAdmin(requestAccess(request), 'a reading of the balance')
    const { amount, at } = request.body
    const read = parseAmount(amount, 'amount')
    const moment = at === undefined ? undefined : readMoment(at, 'at', 'BODY_INVALID')
    const kept = await requireDesk(context).spending.pushBalance(read, moment)
    return { amount: kept.amount.toString(), at: toMoment(kept.at) }
  })

  app.post('/v1/spending/window', { schema: TURN_SCHEMA }, async (request) => {
    const access = requestAccess(request)
    requireAdmin(access, 'opening a window')
    const opened = await requireDesk(context).spending.resetWindow({ actor: access.scope })
    return { startsAt: toMoment(opened.startsAt), endsAt: toMoment(opened.endsAt) }
  })
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

const toReportBody = (report: SpendingReport) => ({
  window: toMoment(report.window),
  total: report.total.toString(),
  byOperation: toTexts(report.byOperation),
  byFamily: toTexts(report.byFamily),
  byMode: toTexts(report.byMode),
  byTier: toTexts(report.byTier),
})

export const toTexts = (sums: Readonly<Record<string, bigint>>): Record<string, string> =>
  Object.fromEntries(Object.entries(sums).map(([name, amount]) => [name, amount.toString()]))

const toVerificationBody = ({ entries, nodes, drifts, missing }: Verification) => ({
  agrees: drifts.length === 0 && missing.length === 0,
  entries,
  balances: nodes,
  drifts: drifts.map(({ node, window, ledger, balance }) => ({
    node,
    window: toMoment(window),
    ledger: { spent: ledger.spent.toString(), held: ledger.held.toString() },
    balance: { spent: balance.spent.toString(), held: balance.held.toString() },
  })),
  missing: [...missing],
})
