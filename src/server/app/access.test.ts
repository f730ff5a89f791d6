import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import { parseCatalog } from '../../requests/yaml.ts'
import type { Scope, TokenRecord } from '../config/tokens.ts'

const token = (name: string, scopes: readonly Scope[]): TokenRecord => ({
  name,
  sha256: createHash('sha256').update(`hg_${name}`).digest('hex'),
  scopes,
})

const withTokens = () =>
  testServer({ settings: { tokens: [token('shop', ['decide']), token('ops', ['admin'])] } })

const KEY = { limit: 'PerKey', id: 'k' }

const post = (
  app: ReturnType<typeof testServer>['app'],
  url: string,
  payload: object,
  authorization?: string,
) =>
  app.inject({
    method: 'POST',
    url,
    payload,
    headers: { host: 'limits.example.org', ...(authorization && { authorization }) },
  })

describe('with tokens', () => {
  test('no token is 401, and the answer says what is wanted', async () => {
    const reply = await post(withTokens().app, '/v1/spend', KEY)
    expect(reply.statusCode).toBe(401)
    expect(reply.headers['www-authenticate']).toBe('Bearer realm="headgate"')
    expect(reply.json()).toMatchObject({ code: 'TOKEN_MISSING' })
  })

  test('another scheme is no token', async () => {
    const reply = await post(withTokens().app, '/v1/spend', KEY, 'Basic aGdfc2hvcDo=')
    expect(reply.json()).toMatchObject({ code: 'TOKEN_MISSING' })
  })

  test('an unknown token is 401, and is not repeated', async () => {
    const reply = await post(withTokens().app, '/v1/spend', KEY, 'Bearer hg_guess')
    expect(reply.statusCode).toBe(401)
    expect(reply.headers['www-authenticate']).toContain('invalid_token')
    expect(reply.body).not.toContain('hg_guess')
  })

  test('the hash of a token is not the token', async () => {
    const { sha256 } = token('shop', [])
    const reply = await post(withTokens().app, '/v1/spend', KEY, `Bearer ${sha256}`)
    expect(reply.json()).toMatchObject({ code: 'TOKEN_UNKNOWN' })
  })

  test('decide may spend, check, ask the gate and give back its own operations', async () => {
    const { app } = withTokens()
    const shop = 'Bearer hg_shop'
    const spent = await post(app, '/v1/spend', { ...KEY, operationId: 'a' }, shop)
    expect(spent.statusCode).toBe(200)
    expect((await post(app, '/v1/check', KEY, shop)).statusCode).toBe(200)
    expect((await post(app, '/v1/refund', { operationId: 'a' }, shop)).statusCode).toBe(200)
    const headers = { authorization: shop }
    expect((await app.inject({ url: '/v1/gate?limit=PerKey&id=k', headers })).statusCode).toBe(204)
    expect((await app.inject({ url: '/v1/limits', headers })).statusCode).toBe(200)
  })

  test('only admin may reset, and refund what no operation names', async () => {
    const { app } = withTokens()
    for (const url of ['/v1/reset', '/v1/refund']) {
      const refused = await post(app, url, KEY, 'Bearer hg_shop')
      expect(refused.statusCode).toBe(403)
      expect(refused.json()).toMatchObject({ code: 'SCOPE_MISSING' })
      expect((await post(app, url, KEY, 'Bearer hg_ops')).statusCode).toBe(200)
    }
    expect((await post(app, '/v1/spend', KEY, 'Bearer hg_ops')).statusCode).toBe(200)
  })

  test('in a batch a missing scope is the error of its question alone', async () => {
    const questions = [{ verb: 'reset', ...KEY }, KEY]
    const reply = await post(withTokens().app, '/v1/batch', { questions }, 'Bearer hg_shop')
    expect(reply.json()).toMatchObject({
      answers: [{ error: { code: 'SCOPE_MISSING', status: 403 } }, { allowed: true }],
    })
  })

  test('no token can release the place of another', async () => {
    const catalog = parseCatalog({ limits: 'Jobs: { id: opaque, atOnce: 1, heldFor: 30s }' })
    const tokens = [token('shop', ['decide']), token('ops', ['admin'])]
    const { app } = testServer({ settings: { tokens }, catalog })
    const ask = { limit: 'Jobs', id: 'x' }
    const { placeId } = (await post(app, '/v1/acquire', ask, 'Bearer hg_shop')).json()
    const release = async (name: string) =>
      (await post(app, '/v1/release', { placeId }, `Bearer hg_${name}`)).json()
    expect(await release('ops')).toEqual({ released: false })
    expect(await release('shop')).toEqual({ released: true })
  })

  test('operation ids of two tokens never meet', async () => {
    const { app } = withTokens()
    const body = { ...KEY, operationId: 'same' }
    await post(app, '/v1/spend', body, 'Bearer hg_shop')
    const other = await post(app, '/v1/spend', body, 'Bearer hg_ops')
    expect(other.json()).not.toHaveProperty('replayed')
    expect(other.json()).toMatchObject({ remaining: 1 })
  })

  test('a token that is taken away is refused from the next request on', async () => {
    const { app, headgate } = withTokens()
    expect((await post(app, '/v1/check', KEY, 'Bearer hg_shop')).statusCode).toBe(200)
    headgate.tokenList = [token('ops', ['admin'])]
    expect((await post(app, '/v1/check', KEY, 'Bearer hg_shop')).statusCode).toBe(401)
  })

  test('health, metrics and the description need none', async () => {
    const { app } = withTokens()
    for (const url of ['/livez', '/readyz', '/metrics', '/openapi.json']) {
      expect((await app.inject({ url })).statusCode).toBe(200)
    }
  })
})
