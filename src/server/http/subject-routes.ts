/** `GET /v1/subjects/{subject}`: which rates apply to a subject, and why. */
import type { Instant } from '../../core/index.ts'
import type { AppliedRate } from '../../subjects/index.ts'
import type { App, HttpContext } from './context.ts'
import { requireSubjects } from './require-subjects.ts'
import { SUBJECT_SCHEMA } from './subject-schema.ts'

export const subjectRoutes = (app: App, context: HttpContext): void => {
  app.get('/v1/subjects/:subject', { schema: SUBJECT_SCHEMA }, async ({ params: { subject } }) => {
    // Not the gate, which may be a moment behind: whoever has just set a rate wants to see it.
    const applied = await requireSubjects(context).rates.ratesFor([subject])
    const values = applied.map(({ rate: { rate } }) => rate)
    const positive = values.filter((rate) => rate > 0)
    return {
      subject,
      blocked: values.some((rate) => rate <= 0),
      ...(positive.length === 0 ? {} : { rate: Math.min(...positive) }),
      rates: applied.map(toBody),
    }
  })
}

const toBody = ({ rate, form }: AppliedRate) => ({
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
})

const inSeconds = (point: Instant): number => Math.floor(point / 1_000_000)
