/** Plans on the wire, as JSON Schema. */
import { Type } from 'typebox'
import { MAX_PAGE, MAX_SPENDING_TEXT } from './bounds.ts'
import { PROBLEM_RESPONSES } from './problem-schema.ts'
import { Moment } from './spending-books-schema.ts'
import { Amount, STANDING } from './spending-schema.ts'

const CLOSED = { additionalProperties: false } as const
const text = (description: string) => Type.String({ maxLength: MAX_SPENDING_TEXT, description })

const PLAN = {
  id: Type.String(),
  tier: Type.String({ description: 'BASIC, EXTENDED or PRIVILEGED.' }),
  name: Type.Optional(Type.String()),
  limit: Type.String({ description: 'Its own, or that of its tier: an amount, or unlimited.' }),
  active: Type.Boolean(),
  createdAt: Type.Optional(Type.String()),
  source: Type.String({ description: 'file, store (created while Headgate runs) or implicit.' }),
} as const

const Plan = Type.Object(PLAN)

const Page = Type.Object({
  plans: Type.Array(Plan),
  next: Type.Optional(Type.String({ description: 'Ask for the next page with after=this.' })),
})

const Sums = Type.Record(Type.String(), Type.String())

const Shown = Type.Object({
  ...PLAN,
  ...STANDING,
  addresses: Type.Array(Type.String()),
  ips: Type.Array(Type.String()),
  daily: Type.Record(Type.String(), Type.String(), {
    description: 'Spent by UTC day of the start of the window, for 62 days.',
  }),
  monthly: Sums,
})

const Granted = Type.Object({
  grantId: Type.String(),
  plan: Type.Object({ id: Type.String(), tier: Type.String(), ...STANDING }),
})

const History = Type.Object({
  entries: Type.Array(Type.Unknown({ description: 'As in the export of the ledger.' })),
  next: Type.Optional(
    Type.Integer({ description: 'Ask for the next page with after=this; absent at the end.' }),
  ),
})

const Links = Type.Array(Type.Object({ link: Type.String(), planId: Type.String() }))
const Ids = Type.Array(Type.String())

const Diff = Type.Object({
  changes: Type.Boolean(),
  added: Ids,
  removed: Ids,
  updated: Ids,
  linksAdded: Links,
  linksRemoved: Links,
})

const Id = Type.Object({ id: Type.String() })
const Caller = Type.Object(
  { address: Type.Optional(text('0x and hex digits.')), ip: Type.Optional(text('An IP address.')) },
  CLOSED,
)

const describe = (operationId: string, summary: string, description?: string) => ({
  operationId,
  summary,
  ...(description !== undefined && { description }),
  tags: ['plans'],
})

const answers = <T>(schema: T) => ({ 200: schema, ...PROBLEM_RESPONSES })
const ADMIN = 'Needs the scope admin. Plans of the file are changed in the file.'

export const LIST_PLANS_SCHEMA = {
  ...describe('listPlans', 'Every plan that is configured or was created, by id'),
  querystring: Type.Object(
    { after: Type.Optional(text('The last id of the page before.')) },
    CLOSED,
  ),
  response: answers(Page),
}

export const SHOW_PLAN_SCHEMA = {
  ...describe('showPlan', 'One plan: who it is for, and how it stands'),
  params: Id,
  response: answers(Shown),
}

export const CREATE_PLAN_SCHEMA = {
  ...describe('createPlan', 'Create a plan that is not in the file', 'Needs the scope admin.'),
  body: Type.Object(
    {
      id: text('1 to 128 printable characters.'),
      tier: Type.Enum(['BASIC', 'EXTENDED', 'PRIVILEGED']),
      name: Type.Optional(text('For people.')),
      limit: Type.Optional(
        Type.Unsafe<string | number>({ ...Amount, description: 'An amount, or unlimited.' }),
      ),
    },
    CLOSED,
  ),
  response: answers(Plan),
}

export const SWITCH_PLAN_SCHEMA = (verb: 'activate' | 'deactivate') => ({
  ...describe(
    `${verb}Plan`,
    verb === 'activate' ? 'Let a plan spend again' : 'Refuse a plan with PLAN_INACTIVE',
    ADMIN,
  ),
  params: Id,
  body: Type.Object({}, CLOSED),
  response: answers(Plan),
})

export const LINK_PLAN_SCHEMA = (verb: 'link' | 'unlink') => ({
  ...describe(
    `${verb}Plan`,
    verb === 'link' ? 'Let a plan pay for an address or IP' : 'End that',
    ADMIN,
  ),
  params: Id,
  body: Caller,
  response: answers(Plan),
})

export const GRANT_SCHEMA = {
  ...describe(
    'grantPlan',
    'Give a plan more, once',
    'Used after its allowance and never above the total. Needs the scope admin.',
  ),
  params: Id,
  body: Type.Object(
    {
      amount: Amount,
      expiresAt: Type.Optional(Moment),
      priority: Type.Optional(Type.Integer({ description: 'Lower is used first; 0.' })),
      reason: Type.Optional(text('Kept in the ledger.')),
    },
    CLOSED,
  ),
  response: answers(Granted),
}

export const HISTORY_SCHEMA = {
  ...describe('planHistory', "A plan's ledger entries, oldest first"),
  params: Id,
  querystring: Type.Object(
    {
      after: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
      limit: Type.Optional(
        Type.String({ pattern: '^[0-9]{1,4}$', description: `1 to ${MAX_PAGE}; 100.` }),
      ),
    },
    CLOSED,
  ),
  response: answers(History),
}

export const DIFF_SCHEMA = {
  ...describe(
    'diffPlans',
    'What a file of plans would change',
    'Changes nothing. A caller that moves is removed from one plan and added to another.',
  ),
  body: Type.Object(
    {
      text: Type.String({ description: 'The file, as it is.' }),
      name: Type.Optional(text('What messages call it.')),
    },
    CLOSED,
  ),
  response: answers(Diff),
}
