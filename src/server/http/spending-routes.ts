/** `POST /v1/spending/…`: check, hold, capture, settle, release and record. */
import type { FastifyReply } from 'fastify'
import { type Expense, parseAmount } from '../../spending/index.ts'
import { book } from '../spending/book.ts'
import { requestAccess } from './access.ts'
import type { App, HttpContext } from './context.ts'
import { setRetryAfter, toAdmissionBody, toBookingBody } from './spending-body.ts'
import { requireDesk } from './spending-off.ts'
import {
  ADMISSION_RESPONSES,
  BOOKING_RESPONSES,
  CaptureBody,
  CheckBody,
  HoldBody,
  RecordBody,
  ReleaseBody,
  SettleBody,
} from './spending-schema.ts'

export const spendingRoutes = (app: App, context: HttpContext): void => {
  admissionRoutes(app, context)
  holdEndRoutes(app, context)

  const record = describe('record', 'Book what was already spent', 'Past any limit: it is gone.')
  app.post(
    '/v1/spending/record',
    { schema: { ...record, body: RecordBody, response: BOOKING_RESPONSES } },
    async (request, reply) => {
      const { queue = false, amount, ...ask } = request.body
      const actor = requestAccess(request).scope
      const spent = parseAmount(amount, 'amount')
      return answerBooking(context, reply, { verb: 'record', ...ask, amount: spent, actor }, queue)
    },
  )
}

function admissionRoutes(app: App, context: HttpContext): void {
  const check = describe(
    'check',
    'Ask what a hold would answer',
    'Writes nothing, and promises nothing about the next call.',
  )
  app.post(
    '/v1/spending/check',
    { schema: { ...check, body: CheckBody, response: ADMISSION_RESPONSES } },
    async ({ body: { estimate = 0, ...ask } }, reply) => {
      const wanted = parseAmount(estimate, 'estimate')
      const answer = await requireDesk(context).spending.check({ ...ask, estimate: wanted })
      setRetryAfter(reply, answer)
      return toAdmissionBody(answer)
    },
  )

  const hold = describe(
    'hold',
    'Keep an estimate aside',
    'On the plan, the total and every other node at once, or refuses and changes nothing.',
  )
  app.post(
    '/v1/spending/hold',
    { schema: { ...hold, body: HoldBody, response: ADMISSION_RESPONSES } },
    async (request, reply) => {
      const { estimate = 0, ...ask } = request.body
      const wanted = parseAmount(estimate, 'estimate')
      const actor = requestAccess(request).scope
      const answer = await requireDesk(context).spending.hold({ ...ask, estimate: wanted, actor })
      setRetryAfter(reply, answer)
      return toAdmissionBody(answer)
    },
  )
}

function holdEndRoutes(app: App, context: HttpContext): void {
  const capture = describe('capture', 'Charge part of a hold', 'The rest stays held.')
  app.post(
    '/v1/spending/capture',
    { schema: { ...capture, body: CaptureBody, response: BOOKING_RESPONSES } },
    async (request, reply) => {
      const { queue = false, amount, ...ask } = request.body
      const actor = requestAccess(request).scope
      const spent = parseAmount(amount, 'amount')
      return answerBooking(context, reply, { verb: 'capture', ...ask, amount: spent, actor }, queue)
    },
  )

  const settle = describe(
    'settle',
    'End a hold at what was really spent',
    'Without an amount: at the sum of its captures. More than was held is charged and told.',
  )
  app.post(
    '/v1/spending/settle',
    { schema: { ...settle, body: SettleBody, response: BOOKING_RESPONSES } },
    async (request, reply) => {
      const { queue = false, amount, ...ask } = request.body
      const actor = requestAccess(request).scope
      const spent = amount === undefined ? undefined : parseAmount(amount, 'amount')
      return answerBooking(context, reply, { verb: 'settle', ...ask, amount: spent, actor }, queue)
    },
  )

  const release = describe('release', 'End a hold with nothing more spent', 'Captures stay.')
  app.post(
    '/v1/spending/release',
    { schema: { ...release, body: ReleaseBody, response: BOOKING_RESPONSES } },
    async (request, reply) => {
      const { queue = false, ...ask } = request.body
      const actor = requestAccess(request).scope
      return answerBooking(context, reply, { verb: 'release', ...ask, actor }, queue)
    },
  )
}

async function answerBooking(
  context: HttpContext,
  reply: FastifyReply,
  expense: Expense,
  later: boolean,
) {
  const booked = await book(requireDesk(context), expense, later)
  if (booked.kind === 'booked') return toBookingBody(booked.answer)
  reply.code(202)
  return { queued: true, operationId: booked.operationId }
}

const describe = (verb: string, summary: string, description: string) => ({
  operationId: `${verb}Spending`,
  summary,
  description,
  tags: ['spending'],
})
