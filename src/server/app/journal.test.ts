import { createHash } from 'node:crypto'
import type { InjectOptions } from 'fastify'
import { describe, expect, test } from 'vitest'
import { type TestOptions, testHeadgate } from '../../../test/support/headgate.ts'
import { jsonField } from '../../../test/support/json-field.ts'
import { StoreError } from '../../core/errors.ts'
import { complete, fromDocument } from '../../documents/settings/table.ts'
import { createHttpServer } from './http-server.ts'
import { createJournal, createSampler, JOURNAL_SETTINGS } from './journal.ts'
import { createLogger } from './logger.ts'

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex')

const TOKENS = [{ name: 'shop', sha256: hashOf('hg_shop'), scopes: ['decide' as const] }]

/** A server whose lines a test reads; `log` as headgate.yml would hold it. */
const logging = (log: unknown = {}, options: TestOptions = {}) => {
  const lines: Record<string, unknown>[] = []
  const logger = createLogger('debug', { write: (line) => lines.push(JSON.parse(line)) })
  const read = fromDocument(JOURNAL_SETTINGS, jsonField(log, 'log'))
  const settings = { ...options.settings, log: complete(JOURNAL_SETTINGS, read) }
  const app = createHttpServer(testHeadgate({ ...options, settings }), { logger })
  const spend = (request: Partial<InjectOptions> = {}) =>
    app.inject({
      method: 'POST',
      url: '/v1/spend',
      payload: { limit: 'PerKey', id: 'ann@example.com', cost: 3 },
      ...request,
    })
  return { app, lines, spend }
}

const WARN = 40
const INFO = 30

describe('who is rejected is in the log', () => {
  test('a host, with the rule that it broke', async () => {
    const { spend, lines } = logging()
    await spend({ headers: { host: 'rebound.example' } })
    expect(lines).toMatchObject([
      {
        level: WARN,
        msg: expect.stringMatching(/^rejected: Host: must name this machine/),
        code: 'HOST_NOT_ALLOWED',
        thing: 'Host',
        finding: '"rebound.example"',
        method: 'POST',
        route: '/v1/spend',
        client: '127.0.0.1',
        leftOut: 0,
      },
    ])
  })

  test('a proxy that asks the gate wrongly, with what is wrong', async () => {
    const { app, lines } = logging()
    await app.inject({ url: '/v1/gate?limit=PerKey&id=k', headers: { host: 'headgate' } })
    await app.inject('/v1/gate?limit=Nope&id=k')
    expect(lines).toMatchObject([
      { level: WARN, code: 'GATE_MISCONFIGURED', cause: 'HOST_NOT_ALLOWED', finding: '"headgate"' },
      { level: WARN, code: 'GATE_MISCONFIGURED', cause: 'LIMIT_UNKNOWN', route: '/v1/gate' },
    ])
  })

  test('a token, by the first digits of its hash and never by itself', async () => {
    const { spend, lines } = logging({}, { settings: { tokens: TOKENS } })
    await spend({ headers: { authorization: 'Bearer hg_guess' } })
    await spend()
    expect(lines).toMatchObject([
      { code: 'TOKEN_UNKNOWN', tokenSha256: hashOf('hg_guess').slice(0, 8) },
      { code: 'TOKEN_MISSING' },
    ])
    const text = JSON.stringify(lines)
    expect(text).not.toContain('hg_guess')
    expect(text).not.toContain(hashOf('hg_guess').slice(0, 9))
  })

  test('a token that may not do this, by its name', async () => {
    const { spend, lines } = logging({}, { settings: { tokens: TOKENS } })
    await spend({ url: '/v1/reset', headers: { authorization: 'Bearer hg_shop' } })
    expect(lines).toMatchObject([{ code: 'SCOPE_MISSING', token: 'shop' }])
  })

  test('at the level that is set, or not at all', async () => {
    for (const [log, levels] of [
      [{ rejected: 'info' }, [INFO]],
      [{ rejected: { level: 'silent' } }, []],
    ] as const) {
      const { spend, lines } = logging(log)
      await spend({ headers: { host: 'rebound.example' } })
      expect(lines.map(({ level }) => level)).toEqual(levels)
    }
  })

  test('a flood of one kind is one line a second, and hides no other kind', async () => {
    const { app, lines } = logging({ rejected: { oneIn: 1, perSecond: 1 } })
    const ask = (headers: Record<string, string>) => app.inject({ url: '/v1/limits', headers })
    for (let n = 0; n < 20; n++) await ask({ host: 'flood.example' })
    await ask({ host: 'localhost', origin: 'https://page.example' })
    const codes = lines.map(({ code }) => code)
    expect(codes.filter((code) => code === 'ORIGIN_NOT_ALLOWED')).toHaveLength(1)
    const floods = lines.filter(({ code }) => code === 'HOST_NOT_ALLOWED')
    const leftOut = floods.reduce((sum, line) => sum + Number(line['leftOut']), 0)
    expect(floods.length + leftOut).toBeLessThanOrEqual(20)
    expect(floods.length).toBeLessThan(20)
  })
})

describe('what is refused can be in the log', () => {
  test('it is not unless told', async () => {
    const { spend, lines } = logging()
    await spend()
    expect((await spend()).json()).toMatchObject({ allowed: false })
    expect(lines).toEqual([])
  })

  test('by limit and reason, without the id', async () => {
    const { spend, lines } = logging({ refused: 'info' })
    await spend()
    await spend()
    expect(lines).toMatchObject([
      {
        level: INFO,
        msg: 'refused',
        reason: 'RATE_LIMIT',
        limits: ['PerKey'],
        retryAfterMs: 30_000,
        route: '/v1/spend',
        token: 'local',
        leftOut: 0,
      },
    ])
    expect(JSON.stringify(lines)).not.toContain('ann@')
  })

  test('with the id where that is wanted', async () => {
    const { spend, lines } = logging({ refused: { level: 'info', ids: true } })
    await spend()
    await spend()
    expect(lines).toMatchObject([{ ids: ['ann@example.com'] }])
  })

  test('at the gate, and in a batch one by one', async () => {
    const { app, spend, lines } = logging({ refused: { level: 'debug', ids: true } })
    const question = { limit: 'PerKey', id: 'k', cost: 3 }
    await app.inject('/v1/gate?limit=PerKey&id=k&cost=3')
    await app.inject('/v1/gate?limit=PerKey&id=k')
    await spend({ url: '/v1/batch', payload: { questions: [question, question] } })
    expect(lines).toMatchObject([
      { route: '/v1/gate', limits: ['PerKey'], ids: ['k'], retryAfterMs: 10_000 },
      { route: '/v1/batch', limits: ['PerKey'], ids: ['k'] },
      { route: '/v1/batch', limits: ['PerKey'], ids: ['k'] },
    ])
  })
})

describe('a sample', () => {
  const take = (sampling: { oneIn: number; perSecond: number }, moments: readonly number[]) => {
    let now = 0
    const sample = createSampler(sampling, () => now)
    return moments.map((moment) => {
      now = moment
      return sample()
    })
  }

  test('is one in so many, and counts the others', () => {
    const moments = [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000]
    const none = undefined
    expect(take({ oneIn: 3, perSecond: 1 }, moments)).toEqual([0, none, none, 2, none, none, 2])
  })

  test('has at most so many a second, and counts the others', () => {
    const moments = [0, 10, 20, 30, 1_000, 1_010, 1_020, 9_000]
    const none = undefined
    expect(take({ oneIn: 1, perSecond: 2 }, moments)).toEqual([0, 0, none, none, 2, 0, none, 1])
  })
})

test('of requests that the store fails one a second is told, and how many were not', () => {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('debug', { write: (line) => lines.push(JSON.parse(line)) })
  let now = 0
  const read = fromDocument(JOURNAL_SETTINGS, jsonField({}, 'log'))
  const journal = createJournal(complete(JOURNAL_SETTINGS, read), () => now)
  const request = {
    log,
    method: 'POST',
    ip: '::1',
    routeOptions: { url: '/v1/spend' },
    headers: {},
  }
  const down = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'it', rule: 'must answer' })
  for (let i = 0; i < 1_000; i++) journal.storeFailed(request, down)
  now = 1_000
  journal.storeFailed(request, down)
  expect(lines).toMatchObject([
    { level: WARN, route: '/v1/spend', leftOut: 0 },
    { level: WARN, route: '/v1/spend', leftOut: 999 },
  ])
})
