/** Plans, their grants and open holds on the wire, as JSON Schema. */
import { Type } from 'typebox'
import type { Tier } from '../../spending/index.ts'
import { MAX_LIST_PAGE } from '../app/bounds.ts'
import type { LedgerEntryBody } from './schema.ts'
import {
  AmountText,
  CLOSED,
  Diff,
  GrantBody,
  Granted,
  OPERATION,
  OpenHoldBody,
  PLAN,
  Shown,
  Timestamp,
  text,
  Voided,
} from './schema-parts.ts'

const TIERS = ['BASIC', 'EXTENDED', 'PRIVILEGED'] as const satisfies readonly Tier[]

const Plan = Type.Object(PLAN)

const PlansPage = Type.Object({
  plans: Type.Array(Plan),
  next: Type.Optional(Type.String({ description: 'Ask for the next page with after=this.' })),
})

const History = Type.Object({
  entries: Type.Array(
    Type.Unsafe<LedgerEntryBody>({ description: 'As in the export of the ledger.' }),
  ),
  next: Type.Optional(
    Type.Integer({ description: 'Ask for the next page with after=this; absent at the end.' }),
  ),
})

const Id = Type.Object({ id: Type.String() })
const Reason = Type.Optional(text('Kept in the ledger.'))
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
  changePlan: {
    tags,
    summary: 'Change the tier, the limit or the name of a plan',
    description: `In force at once; refunds nothing. What is not named stays. ${ADMIN}`,
    params: Id,
    body: Type.Object(
      {
        tier: Type.Optional(Type.Enum(TIERS)),
        limit: Type.Optional(
          Type.Unsafe<string | number>({
            ...AmountText,
            description: 'An amount, unlimited, or tier: that of its tier.',
          }),
        ),
        name: Type.Optional(text('For people; empty: none.')),
        reason: Reason,
      },
      CLOSED,
    ),
    response: { 200: Plan },
  },
  retirePlan: {
    tags,
    summary: 'Retire a plan for good',
    description: `It pays for nothing new; open holds settle, and its members have the plans they would have without it. ${ADMIN}`,
    params: Id,
    body: Type.Object({ reason: Reason }, CLOSED),
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
        reason: Reason,
        ...OPERATION,
      },
      CLOSED,
    ),
    response: { 200: Granted },
  },
  listGrants: {
    tags,
    summary: "A plan's grants of which anything can still be used, in the order of use",
    params: Id,
    response: { 200: Type.Object({ grants: Type.Array(GrantBody) }) },
  },
  voidGrant: {
    tags,
    summary: 'Take back what is left of a grant',
    description: 'What open holds have pinned stays theirs until they end. Needs the scope admin.',
    params: Id,
    body: Type.Object(
      {
        grant: text('The id of the grant.'),
        reason: text('Kept in the ledger.'),
        ...OPERATION,
      },
      CLOSED,
    ),
    response: { 200: Voided },
  },
  listHolds: {
    tags,
    summary: 'The holds that are open; those that end first come first',
    description: 'Whoever has the id of a hold can settle it, so this needs the scope admin.',
    querystring: Type.Object(
      {
        plan: Type.Optional(text('Only those that this plan pays for.')),
        member: Type.Optional(text('Only those for this member.')),
        after: Type.Optional(text('`next` of the page before.')),
        limit: Type.Optional(
          Type.String({ pattern: '^[0-9]{1,4}$', description: `1 to ${MAX_LIST_PAGE}; 100.` }),
        ),
      },
      CLOSED,
    ),
    response: {
      200: Type.Object({
        holds: Type.Array(OpenHoldBody),
        next: Type.Optional(
          Type.String({ description: 'Ask for the next page with after=this; absent at the end.' }),
        ),
      }),
    },
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
