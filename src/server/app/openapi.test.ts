import { expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'

const describeServer = async () => (await testServer().app.inject('/openapi.json')).json()

test('the description is OpenAPI 3.1 and names every route', async () => {
  const { openapi, paths } = await describeServer()
  expect(openapi).toBe('3.1.0')
  expect(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(Object(methods)).map((method) => `${method.toUpperCase()} ${path}`),
    ),
  ).toEqual([
    'GET /livez',
    'GET /readyz',
    'GET /metrics',
    'GET /openapi.json',
    'GET /.well-known/did.json',
    'POST /ucan',
    'POST /v1/spend',
    'POST /v1/check',
    'POST /v1/refund',
    'POST /v1/reset',
    'POST /v1/batch',
    'POST /v1/acquire',
    'POST /v1/release',
    'GET /v1/gate',
    'GET /v1/limits',
    'GET /v1/limits/{name}',
    'GET /v1/limits/{name}/{id}',
    'POST /v1/spending/check',
    'POST /v1/spending/hold',
    'POST /v1/spending/extend',
    'POST /v1/spending/capture',
    'POST /v1/spending/settle',
    'POST /v1/spending/release',
    'POST /v1/spending/record',
    'POST /v1/spending/reverse',
    'GET /v1/spending/holds',
    'GET /v1/spending/report',
    'GET /v1/spending/verify',
    'GET /v1/spending/ledger',
    'POST /v1/spending/balance',
    'POST /v1/spending/window',
    'POST /v1/spending/clock/repair',
    'GET /v1/plans',
    'POST /v1/plans',
    'GET /v1/plans/{id}',
    'GET /v1/plans/{id}/history',
    'POST /v1/spending/diff',
    'POST /v1/plans/{id}/activate',
    'POST /v1/plans/{id}/deactivate',
    'POST /v1/plans/{id}/link',
    'POST /v1/plans/{id}/unlink',
    'POST /v1/plans/{id}/change',
    'POST /v1/plans/{id}/retire',
    'POST /v1/plans/{id}/grant',
    'GET /v1/plans/{id}/grants',
    'POST /v1/plans/{id}/void',
    'GET /v1/subjects/{subject}',
  ])
})

test('every route has a name, a summary and described answers; those under /v1 tell their problems', async () => {
  const { paths } = await describeServer()
  for (const [path, methods] of Object.entries<Record<string, Route>>(paths)) {
    for (const route of Object.values(methods)) {
      expect(route.operationId, path).toEqual(expect.any(String))
      expect(route.summary, path).toEqual(expect.any(String))
      for (const answer of Object.values(route.responses)) {
        expect(answer.description, path).toEqual(expect.any(String))
      }
      if (!path.startsWith('/v1/')) continue
      for (const status of ['4XX', '5XX']) {
        expect(Object.keys(route.responses[status]?.content ?? {}), `${path} ${status}`).toEqual([
          'application/problem+json',
        ])
      }
    }
  }
})

interface Route {
  readonly operationId: string
  readonly summary: string
  readonly responses: Record<string, { description: string; content?: object }>
}

test('bodies refuse unknown fields, and the description says so', async () => {
  const { paths } = await describeServer()
  const { schema } = paths['/v1/spend'].post.requestBody.content['application/json']
  expect(schema).toMatchObject({ type: 'object', additionalProperties: false })
  expect(Object.keys(schema.properties)).toEqual([
    'limit',
    'id',
    'parts',
    'cost',
    'mode',
    'subjects',
    'charges',
    'operationId',
  ])
})
