/** `headgate plans verify`: every balance recomputed from the ledger. */
import type { Command } from './command.ts'
import { getBody, PLANS_FLAGS, tell } from './plans-api.ts'

interface VerificationBody {
  readonly agrees: boolean
  readonly entries: number
  readonly balances: number
  readonly drifts: readonly DriftBody[]
  readonly missing: readonly number[]
}

interface DriftBody {
  readonly node: string
  readonly window: string
  readonly ledger: SumsBody
  readonly balance: SumsBody
}

interface SumsBody {
  readonly spent: string
  readonly held: string
}

export const plansVerify: Command = {
  name: 'plans verify',
  summary: 'Recompute every balance from the ledger; exit 1 if one differs.',
  operands: [],
  flags: PLANS_FLAGS,
  run: async (call) => {
    const fields = ['agrees', 'drifts'] as const
    const found = await getBody<VerificationBody>(call, '/v1/spending/verify', fields, 'patient')
    tell(call, found, describe)
    return found.agrees ? 0 : 1
  },
}

const describe = ({ agrees, entries, balances, drifts, missing }: VerificationBody): string =>
  [
    ...drifts.map(describeDrift),
    ...missing.map((number) => `ledger entry ${number} is missing`),
    `${entries} ledger entries, ${balances} balances: ${agrees ? 'they agree' : 'they differ'}`,
  ].join('\n')

const describeDrift = ({ node, window, ledger, balance }: DriftBody): string =>
  `${node} in the window of ${window}: spent ${ledger.spent} by the ledger, ${balance.spent} by the balance; held ${ledger.held} and ${balance.held}`
