/** `headgate check`, `spend`, `refund` and `reset`: one charge, asked and answered. */
import { type Instant, millis } from '../core/time.ts'
import { describeWait } from '../lib/moments.ts'
import type { AskMode } from '../requests/limiter/charge.ts'
import type { LimiterVerb } from '../requests/limiter/verbs.ts'
import type { ApiInput, ApiOutput } from '../server/api.ts'
import { withRequests } from './api.ts'
import {
  type CliCommand,
  type CommandCall,
  type ExitCode,
  type FlagSpec,
  refuseCall,
} from './command.ts'
import { ASKING_FLAGS, readWord, refuseValue } from './flags.ts'
import { table, tell } from './terminal.ts'

const COST_FLAG: FlagSpec = { name: 'cost', value: 'N', summary: 'Tokens; 1.' }

const OPERATION_FLAG: FlagSpec = {
  name: 'operation',
  value: 'ID',
  summary: 'The same id with the same question again changes nothing.',
}

const MODE_FLAG: FlagSpec = {
  name: 'mode',
  value: 'MODE',
  summary: 'spend, check (charge nothing) or try (charge if it fits); spend.',
}

const SUBJECT_FLAG: FlagSpec = {
  name: 'subject',
  value: 'SUBJECT',
  summary: 'Whom it concerns; refused if that subject is blocked.',
}

const CHARGE = [{ name: 'LIMIT' }, { name: 'ID' }]

export const decideCommands: readonly CliCommand[] = [
  {
    name: 'check',
    onlyLooks: true,
    summary: 'Ask whether a limit would allow it. Charges nothing; exit 2 if refused.',
    operands: CHARGE,
    flags: [COST_FLAG, SUBJECT_FLAG, ...ASKING_FLAGS],
    run: (call) => decide('check', call),
  },
  {
    name: 'spend',
    summary: 'Charge a bucket if its limit allows it. A refusal charges nothing; exit 2.',
    operands: CHARGE,
    flags: [COST_FLAG, MODE_FLAG, OPERATION_FLAG, SUBJECT_FLAG, ...ASKING_FLAGS],
    run: (call) => decide('spend', call),
  },
  {
    name: 'refund',
    summary: 'Give back tokens to a bucket, or what the spend of an operation id charged.',
    operands: [
      { name: 'LIMIT', optional: true },
      { name: 'ID', optional: true },
    ],
    flags: [
      COST_FLAG,
      { name: 'operation', value: 'ID', summary: 'The operation id of the spend to give back.' },
      ...ASKING_FLAGS,
    ],
    run: async (call) => {
      const words = call.operands.length
      if (words === 2 || (words === 0 && call.flags.has('operation'))) return decide('refund', call)
      const rule = 'needs LIMIT and ID, or --operation'
      const finding = words === 0 ? 'neither' : 'a LIMIT without ID'
      return refuseCall({ code: 'OPERAND_MISSING', thing: 'headgate refund', rule, finding })
    },
  },
  {
    name: 'reset',
    summary: 'Fill a bucket, whatever was charged.',
    operands: CHARGE,
    flags: [OPERATION_FLAG, ...ASKING_FLAGS],
    run: (call) => decide('reset', call),
  },
  {
    name: 'acquire',
    summary: 'Take a place of a limit on how many run at once. Exit 2 if all are taken.',
    operands: CHARGE,
    flags: [
      {
        name: 'held-for',
        value: 'DURATION',
        summary: 'When the place comes back by itself; as the limit says.',
      },
      {
        name: 'operation',
        value: 'ID',
        summary: 'Names the place. The same id again gets the place that it has.',
      },
      ...ASKING_FLAGS,
    ],
    run: acquire,
  },
  {
    name: 'release',
    summary: 'Give a place back. Exit 2 if it was released before, or its time had run out.',
    operands: [{ name: 'PLACE' }],
    flags: ASKING_FLAGS,
    run: async (call) => {
      const [placeId = ''] = call.operands
      const answer = await withRequests(call, (api) => api.ask('release', { placeId }))
      tell(call, answer, () => (answer.released ? 'released' : 'not held any more'))
      return answer.released ? 0 : 2
    },
  },
]

async function acquire(call: CommandCall): Promise<ExitCode> {
  const [limit = '', id = ''] = call.operands
  const operationId = call.flags.text('operation')
  const heldFor = call.flags.text('held-for')
  const ask = {
    limit,
    id,
    ...(operationId !== undefined && { operationId }),
    ...(heldFor !== undefined && { heldFor }),
  }
  const answer = await withRequests(call, (api) => api.ask('acquire', ask))
  tell(call, answer, () => describePlace(answer, call.clock()))
  return answer.allowed ? 0 : 2
}

function describePlace(answer: ApiOutput<'acquire'>, now: Instant): string {
  const { allowed, placeId, expiresAt, remaining, retryAfterMs } = answer
  if (!allowed) return `refused  all places are taken, ${retry(retryAfterMs, now)} at the latest`
  if (placeId === undefined) return 'allowed  without a place: the store is down'
  return `acquired  ${placeId}  until ${expiresAt}, ${remaining} left`
}

async function decide(verb: LimiterVerb, call: CommandCall): Promise<ExitCode> {
  const question = readQuestion(call)
  const answer = await withRequests(call, (api) => api.ask(verb, question))
  tell(call, answer, () => describeAnswer(verb, answer, call.clock()))
  return answer.allowed ? 0 : 2
}

function readQuestion({ operands: [limit, id], flags }: CommandCall): ApiInput<LimiterVerb> {
  const operationId = flags.text('operation')
  const operation = operationId === undefined ? {} : { operationId }
  if (limit === undefined || id === undefined) return operation
  const cost = flags.text('cost')
  const mode = flags.text('mode')
  const subject = flags.text('subject')
  return {
    limit,
    id,
    ...(cost !== undefined && { cost: readCost(cost) }),
    ...(mode !== undefined && { mode: readWord(mode, '--mode', MODES) }),
    ...(subject !== undefined && { subjects: [subject] }),
    ...operation,
  }
}

const MODES: readonly AskMode[] = ['spend', 'check', 'try']

function readCost(text: string): number {
  const cost = Number(text)
  if (/^\d+$/.test(text) && Number.isSafeInteger(cost)) return cost
  return refuseValue('--cost', 'must be a whole number of at least 0', text)
}

function describeAnswer(verb: LimiterVerb, answer: ApiOutput<'spend'>, now: Instant): string {
  const rows = answer.charges.map((charge) => [
    charge.allowed ? DONE[verb] : charge.shadow === true ? 'shadow' : 'refused',
    charge.limit,
    charge.id,
    describeOutlook(charge, now),
  ])
  const replayed = answer.replayed === true ? ['as answered before: nothing was charged'] : []
  return [table(rows), ...replayed].join('\n')
}

const DONE: Readonly<Record<LimiterVerb, string>> = {
  check: 'allowed',
  spend: 'allowed',
  refund: 'refunded',
  reset: 'reset',
}

type Outlook = Pick<
  ApiOutput<'showLimitInForce'>,
  'allowed' | 'remaining' | 'retryAfterMs' | 'resetAfterMs'
> & { readonly reason?: string | undefined }

/** What is left, and how long to wait: `1 left, full in 1h, at 2026-01-01 01:00:00 UTC`. */
export const describeOutlook = (
  { allowed, remaining, reason, ...waits }: Outlook,
  now: Instant,
): string => {
  if (remaining === null) return reason === 'DISABLED' ? 'no limit in force' : (reason ?? '')
  if (reason === 'BLOCKED') return 'a subject is blocked'
  const left = `${remaining} left`
  if (reason === 'NOTHING_TO_RETURN') return `${left}, nothing to give back`
  if (!allowed) return `${left}, ${retry(waits.retryAfterMs, now)}`
  const { resetAfterMs } = waits
  if (resetAfterMs === null || resetAfterMs === 0) return left
  return `${left}, full in ${describeWait(millis(resetAfterMs), now)}`
}

const retry = (wait: number | null, now: Instant): string =>
  wait === null ? 'waiting does not help' : `retry in ${describeWait(millis(wait), now)}`
