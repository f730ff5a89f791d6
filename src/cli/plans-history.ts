/** `headgate plans history`: a plan's ledger entries, oldest first. */
import type { Command } from './command.ts'
import { AFTER_FLAG, LIMIT_FLAG } from './page-flags.ts'
import { getBody, PLANS_FLAGS, planPath, tell } from './plans-api.ts'
import { table } from './terminal.ts'

interface HistoryBody {
  readonly entries: readonly EntryBody[]
  readonly next?: number
}

interface EntryBody {
  readonly seq: number
  readonly at: string
  readonly kind: string
  readonly moves: readonly { readonly from: string; readonly to: string; readonly amount: string }[]
  readonly party?: { readonly operation: string; readonly member?: string }
  readonly detail?: string
}

export const plansHistory: Command = {
  name: 'plans history',
  summary: "A plan's ledger entries, oldest first.",
  operands: [{ name: 'PLAN' }],
  flags: [AFTER_FLAG, LIMIT_FLAG, ...PLANS_FLAGS],
  run: async (call) => {
    const [id = ''] = call.operands
    const query = new URLSearchParams()
    for (const name of ['after', 'limit']) {
      const text = call.flags.text(name)
      if (text !== undefined) query.set(name, text)
    }
    const path = `${planPath(id, 'history')}?${query}`
    tell(call, await getBody<HistoryBody>(call, path, ['entries']), describe)
    return 0
  },
}

function describe({ entries, next }: HistoryBody): string {
  const more = next === undefined ? [] : ['', `more: --after ${next}`]
  return [table([HEADINGS, ...entries.map(toRow)]), ...more].join('\n')
}

const HEADINGS = ['NUMBER', 'AT', 'KIND', 'MOVED', 'OPERATION', 'DETAIL']

const toRow = ({ seq, at, kind, moves, party, detail = '' }: EntryBody): readonly string[] => [
  String(seq),
  at,
  kind,
  moves.map(({ from, to, amount }) => `${amount} ${from} → ${to}`).join(', '),
  party?.operation ?? '',
  detail,
]
