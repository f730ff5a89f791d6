/** Plans on the wire, as JSON Schema. */
import { Type } from 'typebox'
import type { Tier } from '../../spending/index.ts'
import { MAX_LIST_PAGE } from '../app/bounds.ts'
import { AmountText, CLOSED, type LedgerEntryBody, STANDING, Timestamp, text } from './schema.ts'

const TIERS = ['BASIC', 'EXTENDED', 'PRIVILEGED'] as const satisfies readonly Tier[]

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

const PlansPage = Type.Object({
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
  entries: Type.Array(
    Type.Unsafe<LedgerEntryBody>({ description: 'As in the export of the ledger.' }),
  ),
  next: Type.Optional(
    Type.Integer({ description: 'Ask for the next page with after=this; absent at the end.' }),
  ),
})

const Links = Type.Array(Type.Object({ link: Type.String(), planId: Type.String() }))
const Ids = Type.Array(Type.String())

const Side = Type.Unsafe<string | null>({ type: ['string', 'null'] })

const Diff = Type.Object({
  changes: Type.Boolean(),
  added: Ids,
  removed: Ids,
  updated: Ids,
  linksAdded: Links,
  linksRemoved: Links,
  plans: Type.Array(
    Type.Object({
      id: Type.String(),
      fields: Type.Array(Type.Object({ field: Type.String(), old: Side, new: Side }), {
        description: 'Of a plan without a limit of its own the limit is that of its tier.',
      }),
      spent: Type.String({ description: 'In the window of now.' }),
      held: Type.String(),
      over: Type.String({ description: 'By how much it would be beyond what it has, at once.' }),
    }),
  ),
})

const Id = Type.Object({ id: Type.String() })
const Caller = Type.Object(
  {
    member: Type.Optional(text('A name such as user:42, an address (0x…) or an IP.')),
    address: Type.Optional(text('The same.')),
    ip: Type.Optional(text('An IP address.')),
  },
  CLOSED,
)

const tags = ['plans']
const ADMIN = 'Needs the scope admin. Plans of the file are changed in the file.'

/** By operation id. */
export const PLAN_SCHEMAS = {
  listPlans: {
    tags,
    summary: 'Every plan that is configured or was created, by id',
    querystring: Type.Object(
      { after: Type.Optional(text('The last id of the page before.')) },
      CLOSED,
    ),
    response: { 200: PlansPage },
  },
  showPlan: {
    tags,
    summary: 'One plan: whom it pays for, and what is left of it',
    params: Id,
    response: { 200: Shown },
  },
  planHistory: {
    tags,
    summary: "A plan's ledger entries, oldest or newest first",
    params: Id,
    querystring: Type.Object(
      {
        after: Type.Optional(
          Type.String({ pattern: '^[0-9]{1,15}$', description: '`next` of the page before.' }),
        ),
        order: Type.Optional(
          Type.Enum(['oldest', 'newest'], { description: 'Which come first; oldest.' }),
        ),
        limit: Type.Optional(
          Type.String({ pattern: '^[0-9]{1,4}$', description: `1 to ${MAX_LIST_PAGE}; 100.` }),
        ),
      },
      CLOSED,
    ),
    response: { 200: History },
  },
  createPlan: {
    tags,
    summary: 'Create a plan that is not in the file',
    description: 'Needs the scope admin.',
    body: Type.Object(
      {
        id: text('1 to 128 printable characters.'),
        tier: Type.Enum(TIERS),
        name: Type.Optional(text('For people.')),
        limit: Type.Optional(
          Type.Unsafe<string | number>({ ...AmountText, description: 'An amount, or unlimited.' }),
        ),
      },
      CLOSED,
    ),
    response: { 200: Plan },
  },
  activatePlan: {
    tags,
    summary: 'Let a plan spend again',
    description: ADMIN,
    params: Id,
    body: Type.Object({}, CLOSED),
    response: { 200: Plan },
  },
  deactivatePlan: {
    tags,
    summary: 'Refuse a plan with PLAN_INACTIVE',
    description: ADMIN,
    params: Id,
    body: Type.Object({}, CLOSED),
    response: { 200: Plan },
  },
  linkPlan: {
    tags,
    summary: 'Let a plan pay for an address or IP',
    description: ADMIN,
    params: Id,
    body: Caller,
    response: { 200: Plan },
  },
  unlinkPlan: {
    tags,
    summary: 'Stop a plan paying for an address or IP',
    description: ADMIN,
    params: Id,
    body: Caller,
    response: { 200: Plan },
  },
  grantPlan: {
    tags,
    summary: 'Give a plan more, once',
    description: 'Used after its allowance and never above the total. Needs the scope admin.',
    params: Id,
    body: Type.Object(
      {
        amount: AmountText,
        expiresAt: Type.Optional(Timestamp),
        priority: Type.Optional(Type.Integer({ description: 'Lower is used first; 0.' })),
        reason: Type.Optional(text('Kept in the ledger.')),
      },
      CLOSED,
    ),
    response: { 200: Granted },
  },
  diffPlans: {
    tags,
    summary: 'What a file of plans would change',
    description:
      'Changes nothing. A caller that moves is removed from one plan and added to another.',
    body: Type.Object(
      {
        text: Type.String({ description: 'The file, as it is.' }),
        name: Type.Optional(text('What messages call it.')),
      },
      CLOSED,
    ),
    response: { 200: Diff },
  },
}
