import { type FastifyInstance, fastify } from 'fastify'
import { describe, expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import { mistyped, seeded } from '../../../test/support/random.ts'
import { REQUEST_SCHEMAS } from '../requests/schema.ts'
import { PLAN_SCHEMAS } from '../spending/plan-schema.ts'
import { SPENDING_SCHEMAS } from '../spending/schema.ts'
import { ENDPOINTS } from './endpoints.ts'
import { handleError } from './problem-handler.ts'
import { httpMistake } from './problems.ts'

test('a problem is told whole, whatever its route says that this status looks like', async () => {
  const app = fastify()
  const refusal = { type: 'object', required: ['violated'], properties: { violated: {} } }
  app.setErrorHandler(handleError)
  app.get('/', { schema: { response: { 409: refusal, '5xx': refusal } } }, () => {
    throw httpMistake({ code: 'INTERNAL', thing: 'a thing', rule: 'has a rule' })
  })
  const reply = await app.inject('/')
  expect(reply.json()).toMatchObject({ code: 'INTERNAL', thing: 'a thing', rule: 'has a rule' })
})

describe('a misspelt field of a body', () => {
  const SCHEMAS = { ...REQUEST_SCHEMAS, ...SPENDING_SCHEMAS, ...PLAN_SCHEMAS }
  const bodies = Object.entries(SCHEMAS).flatMap(([name, schema]) =>
    'body' in schema ? [{ name, place: schema.body }] : [],
  )

  /** The fields of an object, and of the objects in its lists. */
  const placesIn = (schema: unknown): readonly (readonly string[])[] => {
    const { properties, items } = Object(schema)
    const inside = [items, ...Object.values(Object(properties))].filter(
      (part) => part !== undefined,
    )
    const own = properties === undefined ? [] : [Object.keys(properties)]
    return [...own, ...inside.flatMap(placesIn)]
  }

  const words = [...new Set(bodies.flatMap(({ place }) => placesIn(place).flat()))]

  const suggestedFor = async (app: FastifyInstance, url: string, payload: object) => {
    const { rule } = (await app.inject({ method: 'POST', url, payload })).json()
    return /\(did you mean (\S+)\?\)/.exec(String(rule))?.[1]
  }

  test('gets a suggestion from its own place, and never the word itself', async () => {
    const { app } = testServer()
    const random = seeded(36)
    let suggested = 0
    for (const [name, { method, path }] of Object.entries(ENDPOINTS)) {
      const place = bodies.find((body) => body.name === name)?.place
      if (method !== 'POST' || place === undefined) continue
      const known = Object.keys(Object(place).properties)
      for (const word of words) {
        for (const typed of [word, mistyped(word, random)]) {
          const meant = await suggestedFor(app, path.replace(':id', 'x'), { [typed]: 1 })
          if (meant === undefined) continue
          suggested += 1
          expect(known, `${name}: ${typed}`).toContain(meant)
          expect(meant).not.toBe(typed)
        }
      }
    }
    expect(suggested).toBeGreaterThan(50)
  })

  test('inside of another is told of the inner ones', async () => {
    const { app } = testServer()
    const charge = (field: string) => ({ charges: [{ limit: 'PerKey', id: 'k', [field]: 1 }] })
    expect(await suggestedFor(app, '/v1/spend', charge('cots'))).toBe('cost')
    expect(await suggestedFor(app, '/v1/spend', charge('operationID'))).toBeUndefined()
    expect(await suggestedFor(app, '/v1/release', { placeId: 'x', id: 'x' })).toBeUndefined()
  })
})
