/** The pure steps of the three endpoints over a store's view. */
import { answer, type Key, type Plan, type View } from '../core/index.ts'
import { audit } from './audit.ts'
import {
  charged,
  type DomainRecord,
  decodeRecord,
  disabledRecord,
  encodeRecord,
} from './domain-record.ts'
import { type Judgement, judge, type Matter, statusOf } from './judge.ts'
import type { Refusal } from './refusal.ts'
import type { Rule, Status } from './rule.ts'

export interface Admission {
  readonly kind: 'signed'
  /** False for an exact retry, and where there is nothing to charge. */
  readonly charged: boolean
  readonly status: Status
}

/** Changes nothing: what a request would find. */
export const lookStep = (view: View, key: Key, matter: Matter): Plan<Judgement> =>
  answer(judge(recordIn(view, key), view.now, matter))

/** Charges the attempt and remembers the request, at once. Only then may its answer leave. */
export const chargeStep = (
  view: View,
  key: Key,
  matter: Matter,
  keyVersion: number,
): Plan<Admission | Refusal> => {
  const record = recordIn(view, key)
  const found = judge(record, view.now, matter)
  if (found.kind === 'refused') return answer(found)
  if (found.kind === 'retry' || found.next === undefined) {
    const status = statusOf(record, view.now, matter.rule)
    return answer({ kind: 'signed', charged: false, status })
  }
  const after = charged(record, found.next, matter.hash)
  const status = statusOf(after, view.now, matter.rule)
  return {
    writes: [{ key, value: encodeRecord(after) }],
    appends: [audit(view.now, { event: 'signed', record: key, keyVersion })],
    result: { kind: 'signed', charged: true, status },
  }
}

export const statusStep = (view: View, key: Key, rule: Rule): Plan<Status> =>
  answer(statusOf(recordIn(view, key), view.now, rule))

/** For good. Disabling again changes nothing and is no mistake. */
export const disableStep = (view: View, key: Key, rule: Rule): Plan<Status> => {
  const record = recordIn(view, key)
  const after = disabledRecord(record)
  const result = statusOf(after, view.now, rule)
  if (record.disabled) return answer(result)
  return {
    writes: [{ key, value: encodeRecord(after) }],
    appends: [audit(view.now, { event: 'disabled', record: key })],
    result,
  }
}

function recordIn(view: View, key: Key): DomainRecord {
  const [value] = view.read(key)
  return decodeRecord(value)
}
