/** What one node knows of all rates, in memory: by normal form, kept up to date by changes. */
import type { Instant } from '../core/index.ts'
import { coveringForms, normalForm } from './normalise.ts'
import { isBlock, isLive, type Rate } from './rate.ts'
import type { AppliedRate } from './rate-steps.ts'
import type { Change } from './stored.ts'

export interface Board {
  put(rate: Rate): void
  apply(change: Change): void
  applying(subjects: readonly string[], now: Instant): readonly AppliedRate[]
  /** The first block that applies; asked on every request, so it stops there. */
  blockOn(subjects: readonly string[], now: Instant): AppliedRate | undefined
  /** Forgets what has expired. Changes no answer. */
  prune(now: Instant): void
  /** How many subjects have rates. */
  size(): number
}

export const createBoard = (): Board => {
  const byForm = new Map<string, Map<string, Rate>>()

  const put = (rate: Rate): void => {
    const form = normalForm(rate.subject)
    const rates = byForm.get(form)
    if (rates === undefined) byForm.set(form, new Map([[rate.id, rate]]))
    else rates.set(rate.id, rate)
  }

  const drop = ({ id, subject }: Rate): void => {
    const form = normalForm(subject)
    const rates = byForm.get(form)
    rates?.delete(id)
    if (rates?.size === 0) byForm.delete(form)
  }

  function* walk(subjects: readonly string[], now: Instant): Generator<AppliedRate> {
    for (const subject of subjects) {
      for (const form of coveringForms(subject)) {
        for (const rate of byForm.get(form)?.values() ?? []) {
          if (isLive(rate, now)) yield { rate, subject, form }
        }
      }
    }
  }

  return {
    put,
    apply: ({ added, removed }) => {
      for (const rate of added) put(rate)
      for (const rate of removed) drop(rate)
    },
    applying: (subjects, now) => [...walk(subjects, now)],
    blockOn: (subjects, now) => {
      for (const applied of walk(subjects, now)) if (isBlock(applied.rate)) return applied
      return undefined
    },
    prune: (now) => {
      for (const rates of [...byForm.values()]) {
        for (const rate of [...rates.values()]) if (!isLive(rate, now)) drop(rate)
      }
    },
    size: () => byForm.size,
  }
}
