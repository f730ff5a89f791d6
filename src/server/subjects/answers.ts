/** What `GET /v1/subjects/{subject}` answers, and `headgate rates explain`. */
import { inSeconds } from '../../lib/moments.ts'
import type { ExplainedRate } from '../../subjects/index.ts'
import type { ApiHandlers, SubjectOperation } from '../app/endpoints.ts'
import { requireSubjects } from './open.ts'

/** Which rates apply to a subject, and why. */
export const subjectHandlers: ApiHandlers<SubjectOperation> = {
  showSubject: async (call, { subject }) => {
    // Not from the gate, which may be a moment behind: a rate just set must show.
    const { rates } = requireSubjects(call)
    const applied = await rates.explain(subject)
    const values = applied.map(({ rate: { rate } }) => rate)
    const positive = values.filter((rate) => rate > 0)
    return {
      subject,
      blocked: values.some((rate) => rate <= 0),
      ...(positive.length === 0 ? {} : { rate: Math.min(...positive) }),
      rates: applied.map(toAppliedBody),
    }
  },
}

const toAppliedBody = ({ rate, form, refusals }: ExplainedRate) => ({
  id: rate.id,
  subject: rate.subject,
  matched: form,
  rate: rate.rate,
  at: inSeconds(rate.at),
  by: { issuer: rate.by.issuer, chain: [...rate.by.chain] },
  ...(rate.cause === undefined ? {} : { cause: rate.cause }),
  ...(rate.expiresAt === undefined ? {} : { expires: inSeconds(rate.expiresAt) }),
  ...(rate.reason === undefined ? {} : { reason: rate.reason }),
  ...(rate.label === undefined ? {} : { label: rate.label }),
  ...(refusals && { refused: { count: refusals.count, last: inSeconds(refusals.last) } }),
})
