/** Where spending keeps its values. The payer stands in braces: all of it shares one slot of a Redis cluster. */
import type { Key } from '../core/store.ts'
import { type Instant, instant } from '../core/time.ts'
import { mistake, quote } from './mistake.ts'

export interface Keys {
  readonly calendar: Key
  readonly reading: Key
  readonly compacted: Key
  /** The stream of all that happened. */
  readonly ledger: string
  /** The index of plans that are kept here, not in the file. */
  readonly plans: string
  node(window: Instant, node: string): Key
  /** Every balance of a window has a key that starts so. */
  readonly nodes: string
  /** The balance that is kept under a key; undefined for a key of anything else. */
  parseNode(key: Key): KeyedNode | undefined
  /** The index of a window's balances. */
  window(window: Instant): string
  /** The index of one plan's balances, window by window. */
  usage(plan: string): string
  /** What a plan got beyond its allowance in one window. */
  extra(window: Instant, plan: string): Key
  grants(plan: string): Key
  plan(id: string): Key
  link(member: string): Key
  /** The index of a plan's links. */
  links(plan: string): string
  hold(id: string): Key
  operation(verb: string, id: string): Key
}

export interface KeyedNode {
  readonly window: Instant
  readonly node: string
}

/** What the payer has ever paid and holds open now: not of any window, as its balance is not. */
export const OUTFLOW = 'outflow'

export const keysOf = (payer: string): Keys => {
  if (!PAYER.test(payer)) {
    const rule = 'must be 1 to 128 letters, digits or one of . _ : @ -'
    throw mistake('PAYER_INVALID', 'payer', rule, quote(payer))
  }
  const root = `spending/{${payer}}`
  return {
    calendar: `${root}/calendar`,
    reading: `${root}/reading`,
    compacted: `${root}/compacted`,
    ledger: `${root}/ledger`,
    plans: `${root}/plans`,
    node: (window, node) => (node === OUTFLOW ? `${root}/outflow` : `${root}/w/${window}/${node}`),
    nodes: `${root}/w/`,
    parseNode: (key) => parseNode(key, `${root}/w/`),
    window: (window) => `${root}/window/${window}`,
    usage: (plan) => `${root}/usage/${plan}`,
    extra: (window, plan) => `${root}/extra/${window}/${plan}`,
    grants: (plan) => `${root}/grants/${plan}`,
    plan: (id) => `${root}/plan/${id}`,
    link: (member) => `${root}/link/${member}`,
    links: (plan) => `${root}/links/${plan}`,
    hold: (id) => `${root}/hold/${id}`,
    operation: (verb, id) => `${root}/operation/${verb}/${id}`,
  }
}

function parseNode(key: Key, prefix: string): KeyedNode | undefined {
  const slash = key.indexOf('/', prefix.length)
  if (!key.startsWith(prefix) || slash < 0) return undefined
  return { window: instant(Number(key.slice(prefix.length, slash))), node: key.slice(slash + 1) }
}

const PAYER = /^[\w.:@-]{1,128}$/
