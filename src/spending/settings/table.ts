/**
 * The settings of spending, one line each: the section `spending` of `headgate.yml`, and the
 * environment variables that relays use. Variables win over the section, key by key.
 */
import { days, minutes } from '../../core/time.ts'
import { type Field, readEntries, refuseField } from '../../documents/field.ts'
import {
  duration,
  filePath,
  listOf,
  oneOf,
  trueOrFalse,
  wholeNumberIn,
} from '../../documents/settings/reader.ts'
import { type Given, record, settingsTable } from '../../documents/settings/table.ts'
import { MAX_TIME_SOURCES, timeSource } from '../../documents/settings/time-source.ts'
import { HBAR } from '../amount.ts'
import { REMEMBER_FOR } from '../flow/step.ts'
import type { Tier } from '../plans/plan.ts'
import {
  allowance,
  allowances,
  amount,
  balanceSource,
  moneyUnit,
  payerName,
  planList,
  timeZoneName,
  windowLength,
} from './readers.ts'

/** The relay's name for the file of plans, read if it is there. */
export const DEFAULT_PLANS_FILE = 'spendingPlansConfig.json'

const WINDOW = settingsTable({
  length: {
    reader: windowLength,
    default: days(1),
    variable: 'HBAR_RATE_LIMIT_DURATION',
    reloads: true,
    sentence: 'How long a window is; the variable counts milliseconds.',
  },
  align: {
    reader: oneOf(['epoch', 'start', 'midnight']),
    default: 'epoch',
    reloads: true,
    sentence:
      'Where windows start: counted from 1970 (`epoch`), from the first start ever (`start`), or at `midnight`.',
  },
  timeZone: {
    reader: timeZoneName,
    unset: '`UTC`',
    reloads: true,
    sentence: 'Whose midnight, such as `Europe/Berlin`.',
  },
})

const tierLimit = <const Variable extends string>(tier: Tier, variable: Variable) =>
  ({
    reader: allowance,
    variable,
    reloads: true,
    sentence: `What one ${tier} plan may spend in a window. Needed if there is a total.`,
  }) as const

export const SPENDING_SETTINGS = settingsTable({
  payer: {
    reader: payerName,
    default: 'operator',
    sentence: 'Whose money it is. All of it is kept under this name.',
  },
  unit: { reader: moneyUnit, default: HBAR, sentence: 'The money.' },
  window: {
    section: WINDOW,
    short: 'length',
    needs: ['length'],
    check: checkWindow,
    sentence: 'A length alone, or a map.',
  },
  total: {
    reader: allowance,
    unset: '0, without tiers',
    variable: 'HBAR_RATE_LIMIT_TINYBAR',
    reloads: true,
    sentence: 'What the payer spends in a window, for all plans together. 0 turns spending off.',
  },
  tiers: {
    section: {
      BASIC: tierLimit('BASIC', 'HBAR_RATE_LIMIT_BASIC'),
      EXTENDED: tierLimit('EXTENDED', 'HBAR_RATE_LIMIT_EXTENDED'),
      PRIVILEGED: tierLimit('PRIVILEGED', 'HBAR_RATE_LIMIT_PRIVILEGED'),
    },
  },
  ipCeiling: {
    reader: allowance,
    reloads: true,
    sentence: 'Over all BASIC users behind one IP address; an IPv6 /64 counts as one.',
  },
  linkIp: {
    reader: trueOrFalse,
    default: false,
    reloads: true,
    sentence: 'A BASIC plan is shared by its address and the IP address it came from.',
  },
  categories: {
    reader: allowances,
    default: new Map(),
    reloads: true,
    sentence: 'Limits by operation, for all plans together.',
  },
  planCategories: {
    reader: allowances,
    reloads: true,
    sentence: 'Limits by operation, for each plan.',
  },
  holdFor: {
    reader: duration,
    default: minutes(3),
    reloads: true,
    sentence: 'How long a hold lives.',
  },
  rememberFor: {
    reader: duration,
    default: REMEMBER_FOR,
    reloads: true,
    sentence: 'How long operation ids, and holds after their end, are known.',
  },
  operator: {
    sentence: 'The balance that pays.',
    section: {
      minBalance: {
        reader: amount,
        default: 0n,
        reloads: true,
        sentence: 'What must stay in the account.',
      },
      maxAge: {
        reader: duration,
        default: minutes(10),
        reloads: true,
        sentence: 'An older reading of the balance is stale.',
      },
      stale: {
        reader: oneOf(['ignore', 'deny']),
        default: 'ignore',
        reloads: true,
        sentence: 'What a stale or missing reading does: nothing (`ignore`), or refuse (`deny`).',
      },
      balance: { reader: balanceSource, sentence: 'Read the balance from a mirror node.' },
    },
  },
  rollover: {
    reader: record(
      settingsTable({
        sharePerMille: {
          reader: wholeNumberIn({ min: 0, max: 1_000 }),
          required: true,
          sentence: 'At most so many thousandths of its limit.',
        },
      }),
    ),
    reloads: true,
    sentence: 'Unused allowance of a plan moves to the next window.',
  },
  compactAfter: {
    reader: duration,
    unset: 'never',
    reloads: true,
    sentence:
      'Ledger entries of windows that ended so long ago become totals. At least `rememberFor` and a day, the longest life of a hold, together.',
  },
  plansFile: {
    reader: { ...filePath, schema: { ...filePath.schema, default: DEFAULT_PLANS_FILE } },
    unset: `\`${DEFAULT_PLANS_FILE}\``,
    variable: 'HBAR_SPENDING_PLANS_CONFIG_FILE',
    reloads: true,
    sentence: 'Plans in a file of their own. Only the default one may be missing.',
  },
  plans: {
    reader: planList,
    variable: 'HBAR_SPENDING_PLANS_CONFIG',
    reloads: true,
    sentence: 'The same list here instead. The variable holds a file name, or the list in JSON.',
  },
  queueFile: {
    reader: filePath,
    sentence: 'Where fees wait on local disk, see [the queue](#the-queue).',
  },
  timeSources: {
    reader: listOf(timeSource, MAX_TIME_SOURCES),
    default: [],
    sentence:
      'https URLs whose `Date` confirms the [clock](../guide/spending.md#the-clock) after a reboot.',
  },
  allowMemory: {
    reader: trueOrFalse,
    default: false,
    reloads: true,
    sentence: 'For tests: take the store `memory:`.',
  },
})

/** The keys of a window that do not go together, each refused at its own position. */
function checkWindow(window: Field, { length, align, timeZone }: Given<typeof WINDOW>): void {
  if (align === 'midnight') {
    if (length === undefined || length % days(1) === 0) return
    const rule = 'must be whole days where windows start at midnight'
    refuseField(fieldOf(window, 'length'), 'FIELD_VALUE', rule)
  }
  if (timeZone === undefined) return
  refuseField(fieldOf(window, 'timeZone'), 'FIELD_VALUE', 'needs align: midnight')
}

/** A key of a map that has been read already; the map itself where the key is not there. */
export function fieldOf(map: Field, key: string): Field {
  return readEntries(map).find(({ name }) => name === key) ?? map
}
