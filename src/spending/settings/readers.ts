/** How the settings of spending are read: amounts, windows, the payer, and where plans come from. */
import { HeadgateError } from '../../core/errors.ts'
import { instant, millis, minutes, type Span } from '../../core/time.ts'
import { type Field, readEntries } from '../../documents/field.ts'
import { readText, readWholeNumber } from '../../documents/scalars.ts'
import {
  duration,
  filePath,
  formatted,
  type JsonSchema,
  type Reader,
  refuseText,
  type TextReader,
} from '../../documents/settings/reader.ts'
import { record, type SettingsOf, settingsTable } from '../../documents/settings/table.ts'
import { checkUnit, MAX_DECIMALS, parseAllowance, parseAmount, type Unit } from '../amount.ts'
import { toOperationName } from '../flow/ask.ts'
import { keysOf } from '../keys.ts'
import { type Allowance, TIERS } from '../plans/plan.ts'
import type { PlanEntry } from '../plans/plan-entry.ts'
import { readPlans } from '../plans/plan-file.ts'
import { localDay } from '../windows/midnight.ts'

/** Where configured plans come from. A file may be missing only if it is the default one. */
export type PlansSource =
  | { readonly kind: 'file'; readonly path: string; readonly named: boolean }
  | { readonly kind: 'text'; readonly text: string; readonly name: string }
  | { readonly kind: 'entries'; readonly entries: readonly PlanEntry[] }

const ref = (name: string): JsonSchema => ({ $ref: `#/definitions/${name}` })

const amountSchema = (pattern: string, description: string): JsonSchema => ({
  description,
  oneOf: [
    { type: 'integer', minimum: 0 },
    { type: 'string', pattern },
  ],
})

/** From the text of the document, so that a number of any size is exact. */
export const amount: Reader<bigint> = {
  fromField: (field) => placed(field, () => parseAmount(readText(field), field.thing)),
  schema: ref('amount'),
  definitions: {
    amount: amountSchema('^[0-9]{1,78}$', 'A whole number of the smallest unit.'),
  },
  toJson: Number,
}

export const allowance: TextReader<Allowance> = {
  fromField: (field) => placed(field, () => parseAllowance(readText(field), field.thing)),
  fromText: (given) => {
    try {
      return parseAllowance(given.text, given.thing)
    } catch (error) {
      if (!(error instanceof HeadgateError)) throw error
      return refuseText(given, `${error.rule}, or unlimited`)
    }
  },
  schema: ref('allowance'),
  definitions: {
    allowance: amountSchema('^([0-9]{1,78}|unlimited)$', 'An amount, or unlimited.'),
  },
}

/** By the names of operations. */
export const allowances: Reader<ReadonlyMap<string, Allowance>> = {
  fromField: (field, context) =>
    new Map(
      readEntries(field).map((entry) => {
        placed(entry, () => toOperationName(entry.name))
        return [entry.name, allowance.fromField(entry, context)]
      }),
    ),
  schema: ref('allowances'),
  definitions: {
    ...allowance.definitions,
    allowances: {
      type: 'object',
      propertyNames: { pattern: '^[A-Za-z][A-Za-z0-9]{0,63}$' },
      additionalProperties: allowance.schema,
    },
  },
  toJson: Object.fromEntries,
}

export const payerName: Reader<string> = {
  fromField: (field) => {
    const payer = readText(field)
    placed(field, () => keysOf(payer))
    return payer
  },
  schema: { type: 'string', pattern: '^[A-Za-z0-9_.:@-]{1,128}$' },
}

const unitKeys = record(
  settingsTable({
    name: {
      reader: { fromField: readText, schema: { type: 'string', minLength: 1, maxLength: 32 } },
      required: true,
      sentence: 'What people call the money.',
    },
    decimals: {
      reader: {
        fromField: (field) => readWholeNumber(field, { min: 0 }),
        schema: { type: 'integer', minimum: 0, maximum: MAX_DECIMALS },
      },
      required: true,
      sentence: 'How many decimal places it has; an amount counts the last of them.',
    },
  }),
)

export const moneyUnit: Reader<Unit> = {
  ...unitKeys,
  fromField: (field, context) => placed(field, () => checkUnit(unitKeys.fromField(field, context))),
}

/** A century: a longer window is a slip of the unit. */
const MAX_WINDOW_MS = 100 * 366 * 86_400_000

/** With its unit in a document; in a variable, as relays have it, in milliseconds. */
export const windowLength: TextReader<Span> = {
  ...duration,
  fromText: (given) => {
    const length = /^\d{1,16}$/.test(given.text) ? Number(given.text) : 0
    if (length >= 1 && length <= MAX_WINDOW_MS) return millis(length)
    return refuseText(given, `must be whole milliseconds from 1 to ${MAX_WINDOW_MS}`)
  },
}

export const timeZoneName: Reader<string> = {
  fromField: (field) => {
    const zone = readText(field)
    placed(field, () => localDay(zone, instant(0)))
    return zone
  },
  schema: { type: 'string' },
}

/** Text that starts like JSON is JSON, malformed or not: taken for a file's name, it would load nothing. */
export const planList: TextReader<PlansSource> = {
  fromField: (field) => ({ kind: 'entries', entries: readPlans(field) }),
  fromText: (given, context) =>
    /^[[{]/.test(given.text)
      ? { kind: 'text', text: given.text, name: given.thing }
      : { kind: 'file', path: filePath.fromText(given, context), named: true },
  schema: { type: 'array', items: ref('plan') },
  definitions: {
    ...allowances.definitions,
    tier: { enum: TIERS },
    plan: {
      type: 'object',
      additionalProperties: false,
      required: ['id'],
      properties: {
        id: { type: ['string', 'integer'] },
        name: { type: 'string', maxLength: 1000 },
        members: { type: 'array', items: { type: 'string' } },
        tier: ref('tier'),
        subscriptionType: ref('tier'),
        subscriptionTier: ref('tier'),
        ethAddresses: { type: 'array', items: { type: 'string' } },
        evmAddresses: { type: 'array', items: { type: 'string' } },
        ipAddresses: { type: 'array', items: { type: 'string' } },
        limit: allowance.schema,
        active: { type: 'boolean', default: true },
        createdAt: { type: 'string' },
        categories: allowances.schema,
      },
    },
  },
}

const BALANCE_SETTINGS = settingsTable({
  mirrorNode: {
    reader: formatted({
      parse: (text) => (/^https?:/.test(text) && URL.canParse(text) ? text : undefined),
      rule: 'must be an http or https address',
      schema: { pattern: '^https?:' },
    }),
    required: true,
    sentence: 'The address of a mirror node.',
  },
  account: {
    reader: formatted({
      parse: (text) => (/^\d+\.\d+\.\d+$/.test(text) ? text : undefined),
      rule: 'must be an account id, such as 0.0.1234',
      schema: { pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$' },
    }),
    required: true,
    sentence: 'The account whose balance is read.',
  },
  every: { reader: duration, default: minutes(1), sentence: 'How often the balance is read.' },
})

/** Where the operator's balance is read, and how often. */
export type BalanceSource = SettingsOf<typeof BALANCE_SETTINGS>

export const balanceSource: Reader<BalanceSource> = record(BALANCE_SETTINGS)

/** The mistakes of spending have codes of their own and no position; here they get one. */
function placed<T>(field: Field, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof HeadgateError) || error.at !== undefined) throw error
    const { code, thing, rule, finding } = error
    throw new HeadgateError({ code, thing, rule, finding, at: field.node.at }, { cause: error })
  }
}
