/** `headgate plans …`: who may spend how much, and what the ledger says about it. */
import { readFile } from 'node:fs/promises'
import { toTimestamp } from '../lib/moments.ts'
import type { Api, ApiInput, ApiOutput, SpendingOperation } from '../server/api.ts'
import { everyPage, withSpending } from './api.ts'
import { type CliCommand, type CommandCall, refuseCall } from './command.ts'
import {
  AFTER_FLAG,
  ASKING_FLAGS,
  LIMIT_FLAG,
  pickTexts,
  readMomentFlag,
  readWhole,
  readWord,
  refuseValue,
  requireFlag,
} from './flags.ts'
import { brief, table, tell } from './terminal.ts'

type PlanBody = ApiOutput<'createPlan'>

const PLAN = { name: 'PLAN' }
const REASON_FLAG = { name: 'reason', value: 'TEXT', summary: 'Kept in the ledger.' }
const TIERS: readonly ApiInput<'createPlan'>['tier'][] = ['BASIC', 'EXTENDED', 'PRIVILEGED']

const NEWEST_FLAG = { name: 'newest', summary: 'The newest first.' }

export const planCommands: readonly CliCommand[] = [
  {
    name: 'plans list',
    onlyLooks: true,
    summary: 'Every plan that is configured or was created.',
    operands: [],
    flags: ASKING_FLAGS,
    run: async (call) => {
      const plans = await withSpending(call, allPlans)
      tell(call, { plans }, () => table([LIST_HEADINGS, ...plans.map(toListRow)]))
      return 0
    },
  },
  {
    name: 'plans show',
    onlyLooks: true,
    summary: 'One plan: whom it pays for, and what is left of it.',
    operands: [PLAN],
    flags: ASKING_FLAGS,
    run: async (call) => {
      const [id = ''] = call.operands
      tell(call, await withSpending(call, (api) => api.ask('showPlan', { id })), describeShown)
      return 0
    },
  },
  {
    name: 'plans create',
    summary: 'Create a plan that is not in the file.',
    operands: [PLAN],
    flags: [
      { name: 'tier', value: 'TIER', summary: 'BASIC, EXTENDED or PRIVILEGED.' },
      {
        name: 'own-limit',
        value: 'AMOUNT',
        summary: 'Instead of the limit of its tier; or unlimited.',
      },
      { name: 'name', value: 'NAME', summary: 'For people.' },
      ...ASKING_FLAGS,
    ],
    run: async (call) => {
      const [id = ''] = call.operands
      const limit = call.flags.text('own-limit')
      const name = call.flags.text('name')
      const draft = {
        id,
        tier: readWord(requireFlag(call, 'tier'), '--tier', TIERS),
        ...(limit !== undefined && { limit }),
        ...(name !== undefined && { name }),
      }
      tell(call, await withSpending(call, (api) => api.ask('createPlan', draft)), describePlan)
      return 0
    },
  },
  {
    name: 'plans change',
    summary: 'Change the tier, the limit or the name of a plan that is not in the file.',
    operands: [PLAN],
    flags: [
      { name: 'tier', value: 'TIER', summary: 'BASIC, EXTENDED or PRIVILEGED.' },
      { name: 'own-limit', value: 'AMOUNT', summary: 'Or unlimited; or tier, that of its tier.' },
      { name: 'name', value: 'NAME', summary: 'For people.' },
      REASON_FLAG,
      ...ASKING_FLAGS,
    ],
    run: async (call) => {
      const [id = ''] = call.operands
      const limit = call.flags.text('own-limit')
      const tier = call.flags.text('tier')
      const ask = {
        id,
        ...pickTexts(call.flags, ['name', 'reason']),
        ...(limit !== undefined && { limit }),
        ...(tier !== undefined && { tier: readWord(tier, '--tier', TIERS) }),
      }
      tell(call, await withSpending(call, (api) => api.ask('changePlan', ask)), describePlan)
      return 0
    },
  },
  {
    name: 'plans retire',
    summary: 'Retire a plan for good: it pays for nothing new, and its open holds settle.',
    operands: [PLAN],
    flags: [REASON_FLAG, ...ASKING_FLAGS],
    run: async (call) => {
      const [id = ''] = call.operands
      const ask = { id, ...pickTexts(call.flags, ['reason']) }
      tell(call, await withSpending(call, (api) => api.ask('retirePlan', ask)), describePlan)
      return 0
    },
  },
  {
    name: 'plans activate',
    summary: 'Let a plan spend again.',
    operands: [PLAN],
    flags: ASKING_FLAGS,
    run: (call) => switchPlan(call, 'activatePlan'),
  },
  {
    name: 'plans deactivate',
    summary: 'Refuse a plan with PLAN_INACTIVE. basic:MEMBER switches off a single user.',
    operands: [PLAN],
    flags: ASKING_FLAGS,
    run: (call) => switchPlan(call, 'deactivatePlan'),
  },
  {
    name: 'plans link',
    summary: 'Let a plan pay for a member: a name such as user:42, an address (0x…) or an IP.',
    operands: [PLAN, { name: 'CALLER' }],
    flags: ASKING_FLAGS,
    run: (call) => linkCaller(call, 'linkPlan', 'linked to'),
  },
  {
    name: 'plans unlink',
    summary: 'Stop a plan paying for a member.',
    operands: [PLAN, { name: 'CALLER' }],
    flags: ASKING_FLAGS,
    run: (call) => linkCaller(call, 'unlinkPlan', 'unlinked from'),
  },
  {
    name: 'plans grant',
    summary: 'Give a plan more, once: used after its allowance and never above the total.',
    operands: [PLAN, { name: 'AMOUNT' }],
    flags: [
      { name: 'expires', value: 'WHEN', summary: 'A duration from now, or a moment; never.' },
      { name: 'priority', value: 'N', summary: 'Lower is used first; 0.' },
      REASON_FLAG,
      { name: 'operation-id', value: 'ID', summary: 'The same id again gives nothing more.' },
      ...ASKING_FLAGS,
    ],
    run: async (call) => {
      const [id = '', amount = ''] = call.operands
      const ask = { id, amount, ...readGrant(call) }
      const granted = await withSpending(call, (api) => api.ask('grantPlan', ask))
      tell(
        call,
        granted,
        ({ plan, grantId }) =>
          `plan ${id} was given ${amount}, ${plan.remaining} remaining: grant ${grantId}`,
      )
      return 0
    },
  },
  {
    name: 'plans grants',
    onlyLooks: true,
    summary: "A plan's grants of which anything can still be used, in the order of use.",
    operands: [PLAN],
    flags: ASKING_FLAGS,
    run: async (call) => {
      const [id = ''] = call.operands
      const found = await withSpending(call, (api) => api.ask('listGrants', { id }))
      tell(call, found, ({ grants }) => table([GRANT_HEADINGS, ...grants.map(toGrantRow)]))
      return 0
    },
  },
  {
    name: 'plans void',
    summary: 'Take back what is left of a grant. What open holds pinned stays theirs.',
    operands: [PLAN, { name: 'GRANT' }],
    flags: [
      REASON_FLAG,
      { name: 'operation-id', value: 'ID', summary: 'The same id again answers as before.' },
      ...ASKING_FLAGS,
    ],
    run: async (call) => {
      const [id = '', grant = ''] = call.operands
      const reason = requireFlag(call, 'reason')
      const ask = { id, grant, reason, ...readOperationId(call) }
      const done = await withSpending(call, (api) => api.ask('voidGrant', ask))
      tell(
        call,
        done,
        ({ voided, pinned }) => `${voided} of grant ${grant} voided, ${pinned} pinned`,
      )
      return 0
    },
  },
  {
    name: 'plans history',
    onlyLooks: true,
    summary: "A plan's ledger entries, oldest first.",
    operands: [PLAN],
    flags: [NEWEST_FLAG, AFTER_FLAG, LIMIT_FLAG, ...ASKING_FLAGS],
    run: async (call) => {
      const [id = ''] = call.operands
      const order = call.flags.has('newest') ? 'newest' : 'oldest'
      const ask = { id, order, ...readPage(call) } as const
      const page = await withSpending(call, (api) => api.ask('planHistory', ask))
      tell(call, page, describeHistory)
      return 0
    },
  },
  {
    name: 'plans diff',
    onlyLooks: true,
    summary: 'What a file of plans would change in those in force. Changes nothing.',
    operands: [{ name: 'FILE' }],
    flags: ASKING_FLAGS,
    run: async (call) => {
      const [name = ''] = call.operands
      const text = await readText(name)
      const diff = await withSpending(call, (api) => api.ask('diffPlans', { text, name }))
      tell(call, diff, describeDiff)
      return 0
    },
  },
]

const allPlans = (api: Api<SpendingOperation>): Promise<readonly PlanBody[]> =>
  everyPage(async (from) => {
    const { plans, next } = await api.ask('listPlans', from)
    return { items: plans, next }
  })

const LIST_HEADINGS = ['PLAN', 'TIER', 'LIMIT', 'STATE', 'FROM', 'NAME']

const toListRow = (plan: PlanBody): readonly string[] => [
  plan.id,
  plan.tier,
  plan.limit,
  stateOf(plan),
  plan.source,
  plan.name ?? '',
]

const stateOf = ({ active, retiredAt }: Pick<PlanBody, 'active' | 'retiredAt'>): string =>
  retiredAt === undefined ? (active ? 'active' : 'inactive') : 'retired'

const describePlan = (plan: PlanBody): string =>
  `plan ${plan.id}: ${plan.tier}, limit ${plan.limit}, ${stateOf(plan)}`

const GRANT_HEADINGS = [
  'GRANT',
  'AMOUNT',
  'SPENT',
  'PINNED',
  'LEFT',
  'PRIORITY',
  'EXPIRES',
  'REASON',
]

const toGrantRow = (grant: ApiOutput<'listGrants'>['grants'][number]): readonly string[] => [
  grant.id,
  grant.amount,
  grant.spent,
  grant.pinned,
  grant.left,
  String(grant.priority),
  grant.expiresAt ?? 'never',
  grant.reason ?? '',
]

/** More addresses than this say less than their number; `--json` has them all. */
const MAX_SHOWN = 8

const describeShown = (plan: ApiOutput<'showPlan'>): string =>
  table([
    ['plan', plan.id],
    ...(plan.name === undefined ? [] : [['name', plan.name]]),
    ['tier', plan.tier],
    ['state', stateOf(plan)],
    ['from', plan.source],
    ['limit', plan.limit],
    ['spent', plan.spent],
    ['held', plan.held],
    ['remaining', plan.remaining],
    ['addresses', plan.addresses.length === 0 ? 'none' : brief(plan.addresses, MAX_SHOWN)],
    ['ips', plan.ips.length === 0 ? 'none' : brief(plan.ips, MAX_SHOWN)],
    ...plan.grants.map(({ id, left, amount }) => [`grant ${id}`, `${left} of ${amount} left`]),
    ...Object.entries(plan.monthly).map(([month, spent]) => [`in ${month}`, spent]),
  ])

async function switchPlan(call: CommandCall, name: 'activatePlan' | 'deactivatePlan'): Promise<0> {
  const [id = ''] = call.operands
  tell(call, await withSpending(call, (api) => api.ask(name, { id })), describePlan)
  return 0
}

async function linkCaller(
  call: CommandCall,
  name: 'linkPlan' | 'unlinkPlan',
  done: string,
): Promise<0> {
  const [id = '', caller = ''] = call.operands
  const plan = await withSpending(call, (api) => api.ask(name, { id, member: caller }))
  tell(call, plan, () => `${caller} ${done} plan ${id}`)
  return 0
}

function readGrant(call: CommandCall) {
  const expiresAt = readMomentFlag(call, 'expires', 'ahead')
  const priority = call.flags.text('priority')
  return {
    ...(expiresAt !== undefined && { expiresAt: toTimestamp(expiresAt) }),
    ...(priority !== undefined && { priority: readPriority(priority) }),
    ...pickTexts(call.flags, ['reason']),
    ...readOperationId(call),
  }
}

function readOperationId({ flags }: CommandCall) {
  const operationId = flags.text('operation-id')
  return operationId === undefined ? {} : { operationId }
}

function readPriority(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  return refuseValue('--priority', 'must be a whole number', text)
}

/** As the API bounds them. */
function readPage({ flags }: CommandCall) {
  const after = readWhole(flags, 'after', { least: 0, most: 999_999_999_999_999 })
  const limit = readWhole(flags, 'limit', { least: 0, most: 9_999 })
  return {
    ...(after !== undefined && { after: String(after) }),
    ...(limit !== undefined && { limit: String(limit) }),
  }
}

const HISTORY_HEADINGS = ['NUMBER', 'AT', 'KIND', 'MOVED', 'OPERATION', 'DETAIL']

function describeHistory({ entries, next }: ApiOutput<'planHistory'>): string {
  const more = next === undefined ? [] : ['', `more: --after ${next}`]
  return [table([HISTORY_HEADINGS, ...entries.map(toHistoryRow)]), ...more].join('\n')
}

const toHistoryRow = (entry: ApiOutput<'planHistory'>['entries'][number]): readonly string[] => [
  String(entry.seq),
  entry.at,
  entry.kind,
  entry.moves.map(({ from, to, amount }) => `${amount} ${from} → ${to}`).join(', '),
  entry.party?.operation ?? '',
  entry.detail ?? '',
]

type DiffBody = ApiOutput<'diffPlans'>

function describeDiff({ changes, plans, ...diff }: DiffBody): string {
  const [added, removed] = [new Set(diff.added), new Set(diff.removed)]
  const sign = (id: string) => (added.has(id) ? '+' : removed.has(id) ? '-' : '~')
  return changes
    ? [
        ...plans.map((plan) => `${sign(plan.id)} plan ${plan.id}: ${describeChange(plan)}`),
        ...diff.linksAdded.map(({ link, planId }) => `+ ${link} in ${planId}`),
        ...diff.linksRemoved.map(({ link, planId }) => `- ${link} in ${planId}`),
      ].join('\n')
    : 'nothing would change'
}

/** `limit 500 → 300; spent 450 in this window, held 0: over by 150 at once`. */
function describeChange({ fields, spent, held, over }: DiffBody['plans'][number]): string {
  const told = fields.map(({ field, ...side }) =>
    [field, side.old, side.old !== null && side.new !== null ? '→' : null, side.new]
      .filter((word) => word !== null)
      .join(' '),
  )
  const used = `spent ${spent} in this window, held ${held}`
  return `${told.join(', ')}; ${used}${over === '0' ? '' : `: over by ${over} at once`}`
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const finding = cause instanceof Error ? cause.message : String(cause)
    const rule = 'must be a file that can be read'
    return refuseCall({ code: 'FILE_UNREADABLE', thing: file, rule, finding }, cause)
  }
}
