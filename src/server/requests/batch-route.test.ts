import { expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import { MAX_QUESTIONS } from '../app/bounds.ts'

const batch = (questions: readonly object[], app = testServer().app) =>
  app.inject({ method: 'POST', url: '/v1/batch', payload: { questions } })

const KEY = { limit: 'PerKey', id: 'k' }

test('questions are answered in order, each for itself', async () => {
  const reply = await batch([
    { ...KEY, cost: 3 },
    KEY,
    { limit: 'PerKey', id: 'other' },
    { verb: 'reset', ...KEY },
    { verb: 'check', ...KEY, cost: 0 },
    {
      charges: [
        { limit: 'PerKey', id: 'a' },
        { limit: 'PerKey', id: 'b' },
      ],
    },
  ])
  expect(reply.statusCode).toBe(200)
  expect(reply.json().answers).toMatchObject([
    { allowed: true, remaining: 0 },
    { allowed: false, retryAfterMs: 10_000, violated: ['PerKey'] },
    { allowed: true, remaining: 2 },
    { allowed: true, remaining: 3 },
    { allowed: true, remaining: 3 },
    { allowed: true, charges: [{ id: 'a' }, { id: 'b' }] },
  ])
})

test('a mistake in one is an error in its place and no other', async () => {
  const reply = await batch([
    KEY,
    { limit: 'Nope', id: 'k' },
    { verb: 'check', ...KEY, operationId: 'x' },
    { verb: 'refund', operationId: 'never' },
    KEY,
  ])
  expect(reply.json().answers).toMatchObject([
    { remaining: 2 },
    { error: { code: 'LIMIT_UNKNOWN', status: 400, thing: 'the name of a limit' } },
    { error: { code: 'BODY_INVALID', thing: 'operationId' } },
    { error: { code: 'OPERATION_UNKNOWN', status: 404 } },
    { remaining: 1 },
  ])
})

test('the questions of one request reach the store in one moment, so that they can share a commit', async () => {
  let open = 0
  let most = 0
  const { app } = testServer({
    wrap: (store) => ({
      ...store,
      transact: async (step, guess) => {
        most = Math.max(most, ++open)
        await new Promise(setImmediate)
        open--
        return store.transact(step, guess)
      },
    }),
  })
  await batch(
    Array.from({ length: 50 }, (_, i) => ({ limit: 'PerKey', id: `${i}` })),
    app,
  )
  expect(most).toBe(50)
})

test.each([
  ['none', []],
  ['too many', Array.from({ length: MAX_QUESTIONS + 1 }, () => KEY)],
])('%s is a mistake', async (_, questions) => {
  const reply = await batch(questions)
  expect(reply.statusCode).toBe(400)
  expect(reply.json()).toMatchObject({ code: 'BODY_INVALID', thing: 'questions' })
})

test('a full batch of plain questions fits into a body', async () => {
  const questions = Array.from({ length: MAX_QUESTIONS }, (_, i) => ({
    verb: 'spend',
    limit: 'NewOrdersPerAccount',
    id: `${10_000_000_000 + i}`,
    cost: 1,
    operationId: `0123456789abcdef0123456789abcdef-${i}`,
  }))
  const reply = await batch(questions)
  expect(reply.json().answers).toHaveLength(MAX_QUESTIONS)
})

test('a spend of the largest body with an operation id is answered, and answered again', async () => {
  const { app } = testServer()
  const charges = Array.from({ length: 256 }, (_, i) => ({
    limit: 'PerKey',
    id: `${i}-`.padEnd(495, '"'),
  }))
  const payload = { charges, operationId: 'large' }
  const spend = () => app.inject({ method: 'POST', url: '/v1/spend', payload })
  expect(JSON.stringify(payload).length).toBeGreaterThan(255_000)
  expect((await spend()).statusCode).toBe(200)
  expect((await spend()).json()).toMatchObject({ allowed: true, replayed: true })
})
