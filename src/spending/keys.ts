/**
 * Where spending keeps its values. All of one payer lies in one partition, so that every verb is one
 * commit. What can be listed is `index#item`, and so in one list for good.
 */
import { quote } from '../core/errors.ts'
import { listedName, nameOf } from '../core/names.ts'
import type { Key } from '../core/store.ts'
import type { Instant } from '../core/time.ts'
import { spendingMistake } from './mistake.ts'

/** Plans of general users are called so; no configured plan is. */
export const IMPLICIT_PREFIX = 'basic:'

export const implicitPlanId = (client: string): string => `${IMPLICIT_PREFIX}${client}`

export const isImplicitId = (id: string): boolean => id.startsWith(IMPLICIT_PREFIX)

export interface SpendingKeys {
  readonly payer: string
  readonly calendar: Key
  /** What is recorded of the clocks that decide for this payer. */
  readonly clock: Key
  readonly reading: Key
  /** How much the payer had paid at recent times. */
  readonly marks: Key
  readonly compacted: Key
  /** The stream of all that happened. */
  readonly ledger: string
  /** The stream of entries that outlive a compaction. */
  readonly archive: string
  /** The number of a plan's newest entry. */
  trail(plan: string): Key
  /** The index of plans that are kept here, not in the file. */
  readonly plans: string
  plan(id: string): Key
  /** The index of every window in which anything was written, by its start. */
  readonly windows: string
  window(start: Instant): Key
  /** The index of every balance of a window: with `windows`, of every balance but the outflow's. */
  balances(window: Instant): string
  budget(window: Instant, budget: string): Key
  /** What a plan has in one window beside its balance, and listed with it: what was carried, and what grants pay. */
  terms(window: Instant, plan: string): Key
  /** A plan's grants, and the limit that it had last. */
  funds(plan: string): Key
  /** The index of those. */
  readonly fundsList: string
  /** A plan's grants as they stood at the checkpoint, and the index of those. */
  grantsThen(plan: string): Key
  readonly grantsThenList: string
  link(member: string): Key
  /** The index of those, made by operators or by charges. */
  readonly linkList: string
  /** The index of the members that operators linked to a plan. */
  links(plan: string): string
  linked(plan: string, member: string): Key
  /** These two are many, so their names are short. */
  hold(id: string): Key
  operation(verb: string, id: string): Key
  /** The index of the holds that are open: those that end first come first. */
  readonly openHolds: string
  openHold(hold: OpenHoldName): Key
}

/** How the list of open holds names one. */
export interface OpenHoldName {
  readonly id: string
  readonly expiresAt: Instant
}

/** What the payer has ever paid and holds open now: not of any window, as its balance is not. */
export const OUTFLOW = 'outflow'

/** How the list of a window's balances names what a plan has beside its balance. */
export const TERMS = 'terms/'

/** Every ask needs them; there are few payers, and they come from the configuration. */
const known = new Map<string, SpendingKeys>()

export const keysOf = (payer: string): SpendingKeys => {
  const found = known.get(payer)
  if (found !== undefined) return found
  if (!PAYER.test(payer)) {
    const rule = 'must be 1 to 128 letters, digits or one of . _ : @ -'
    throw spendingMistake('PAYER_INVALID', 'payer', rule, quote(payer))
  }
  const keys = makeKeys(payer, (...parts) => nameOf('spending', payer, ...parts))
  known.set(payer, keys)
  return keys
}

function makeKeys(payer: string, name: (...parts: readonly string[]) => string): SpendingKeys {
  const [plans, windows, outflow] = [name('plans'), name('windows'), name(OUTFLOW)]
  const [fundsList, grantsThenList] = [name('funds'), name('grants then')]
  const links = (plan: string) => name('links', plan)
  const [linkList, openHolds] = [name('link'), name('open')]
  const balances = lastMade((window: Instant) => name('window', String(window)))
  const listed = recentlyListed(balances)
  return {
    payer,
    calendar: name('calendar'),
    clock: name('clock'),
    reading: name('reading'),
    marks: name('marks'),
    compacted: name('compacted'),
    ledger: name('l'),
    archive: name('archive'),
    trail: (plan) => name('trail', plan),
    plans,
    plan: (id) => listedName(plans, id),
    windows,
    window: (start) => listedName(windows, String(start)),
    balances,
    budget: (window, budget) => (budget === OUTFLOW ? outflow : listed(window, budget)),
    terms: (window, plan) => listed(window, `${TERMS}${plan}`),
    fundsList,
    funds: (plan) => listedName(fundsList, plan),
    grantsThenList,
    grantsThen: (plan) => listedName(grantsThenList, plan),
    linkList,
    link: (member) => listedName(linkList, member),
    links,
    linked: (plan, member) => listedName(links(plan), member),
    hold: (id) => name('h', id),
    operation: (verb, id) => name('o', verb, id),
    openHolds,
    // Instants have sixteen digits until the year 2286, so names sort by time.
    openHold: ({ expiresAt, id }) => listedName(openHolds, `${expiresAt}.${id}`),
  }
}

/** One charge names a dozen balances of one window. */
function lastMade(make: (window: Instant) => string): (window: Instant) => string {
  let last: { readonly window: Instant; readonly name: string } | undefined
  return (window) => {
    if (last?.window !== window) last = { window, name: make(window) }
    return last.name
  }
}

/** More than the budgets that are busy at once; a name and its key take some 300 bytes. */
const MAX_LISTED = 4_096

/**
 * The keys of one window's balances, each made once: a text that is known need not be put together,
 * hashed and checked again by every charge that names it.
 */
function recentlyListed(balances: (window: Instant) => string): SpendingKeys['budget'] {
  const keys = new Map<string, Key>()
  let of: Instant | undefined
  return (window, item) => {
    if (of !== window || keys.size >= MAX_LISTED) keys.clear()
    of = window
    const known = keys.get(item)
    if (known !== undefined) return known
    const key = listedName(balances(window), item)
    keys.set(item, key)
    return key
  }
}

const PAYER = /^[\w.:@-]{1,128}$/
