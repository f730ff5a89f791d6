import { expect, test } from 'vitest'
import { readAnswer, requestFor } from './api.ts'

const read = (status: number, text: string) => readAnswer('showLimit', status, text)

test('a body with its fields is passed on', () => {
  const body = { name: 'Foos', idFormat: 'opaque', onStoreFailure: 'closed', overrides: 0 }
  expect(read(200, JSON.stringify(body))).toEqual(body)
})

test('a problem becomes the mistake that the server found', () => {
  const problem = { code: 'ID_INVALID', thing: 'the id', rule: 'must be one', finding: '"x"' }
  const reading = () => read(400, JSON.stringify(problem))
  expect(reading).toThrow(expect.objectContaining(problem))
})

test('a mistake in a document keeps its place', () => {
  const at = { file: 'plans.json', line: 3, column: 5 }
  const problem = { code: 'PLAN_TYPE_INVALID', thing: 'plans[0]', rule: 'must be a tier', at }
  const reading = () => read(400, JSON.stringify(problem))
  expect(reading).toThrow('plans.json:3:5: plans[0]: must be a tier')
  expect(reading).toThrow(expect.objectContaining({ at }))
})

test.each([
  [200, '<html>'],
  [200, '{}'],
  [200, '[]'],
  [200, 'null'],
  [502, 'Bad Gateway'],
  [404, '{"message":"not ours"}'],
])('%i with %j is no answer of ours', (status, text) => {
  expect(() => read(status, text)).toThrow(
    expect.objectContaining({ code: 'SERVER_ANSWER_INVALID', finding: `status ${status}` }),
  )
})

test.each([
  ['showPlan', { id: 'a/b c' }, 'GET /v1/plans/a%2Fb%20c'],
  ['planHistory', { id: 'p', after: '7', limit: '2' }, 'GET /v1/plans/p/history?after=7&limit=2'],
  ['listPlans', {}, 'GET /v1/plans'],
  [
    'reportSpending',
    { window: '2026-01-01T00:00:00Z' },
    'GET /v1/spending/report?window=2026-01-01T00%3A00%3A00Z',
  ],
] as const)('%s of %j is %s', (name, input, expected) => {
  const { method, path, body } = requestFor(name, input)
  expect([`${method} ${path}`, body]).toEqual([expected, undefined])
})

test('a change goes into the body, but for what the path names', () => {
  const { method, path, body } = requestFor('grantPlan', { id: 'p', amount: '5', reason: 'fair' })
  expect([method, path]).toEqual(['POST', '/v1/plans/p/grant'])
  expect(JSON.parse(body ?? '')).toEqual({ amount: '5', reason: 'fair' })
})
