import { describe, expect, test } from 'vitest'
import { acmeCatalog } from '../../../test/support/acme-catalog.ts'
import { testServer } from '../../../test/support/headgate.ts'
import { testSubjects } from '../../../test/support/subjects.ts'
import { StoreError } from '../../core/errors.ts'
import { seconds } from '../../core/time.ts'
import type { Subjects } from './open.ts'

const BY = { issuer: 'did:key:z6Mk', chain: ['bafyone'] }

const open = async (limits?: string) => {
  const { app, headgate, clock } = testServer({
    subjects: testSubjects(),
    ...(limits === undefined ? {} : { catalog: acmeCatalog({ limits }) }),
  })
  const subjects = on(headgate.subjects)
  await subjects.gate.catchUp()
  const spend = async (body: object) => {
    const reply = await app.inject({ method: 'POST', url: '/v1/spend', payload: body })
    return { status: reply.statusCode, headers: reply.headers, body: reply.json() }
  }
  const set = async (subject: string, rate: number, more: object = {}) => {
    const { ok } = await subjects.rates.add({ subject, rate, ...more }, BY)
    await subjects.gate.catchUp()
    return ok?.id
  }
  return { app, headgate, clock, subjects, spend, set }
}

const on = (subjects: Subjects | undefined): Subjects => {
  if (subjects === undefined) throw new Error('subjects are on in this test')
  return subjects
}

describe('a charge that names subjects', () => {
  const ask = { limit: 'PerKey', id: 'ann' }

  test('is refused with reason blocked before any bucket is charged', async () => {
    const { spend, set } = await open()
    await set('Example.COM', 0)
    const { status, headers, body } = await spend({ ...ask, subjects: ['ann@mail.example.com'] })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      allowed: false,
      reason: 'BLOCKED',
      retryAfterMs: null,
      violated: ['PerKey'],
      charges: [{ reason: 'BLOCKED' }],
    })
    expect(body.message).toMatch(/blocked, and waiting does not help$/)
    expect(headers['retry-after']).toBeUndefined()
    expect((await spend({ ...ask, cost: 3 })).body.allowed).toBe(true)
  })

  test('refuses the whole batch if one of its charges is blocked', async () => {
    const { spend, set } = await open()
    await set('198.51.100.7', 0)
    const charges = [ask, { limit: 'PerKey', id: 'bob', subjects: ['::ffff:198.51.100.7'] }]
    const { body } = await spend({ charges })
    expect(body).toMatchObject({ allowed: false, reason: 'BLOCKED', violated: ['PerKey'] })
    expect((await spend({ ...ask, cost: 3 })).body.allowed).toBe(true)
  })

  test('may name 32 of up to 1,024 bytes', async () => {
    const { spend } = await open()
    const subjects = Array.from({ length: 33 }, (_, index) => `${index}.test`)
    expect((await spend({ ...ask, subjects })).body.code).toBe('BODY_INVALID')
    expect((await spend({ ...ask, subjects: ['a'.repeat(1_025)] })).body.code).toBe('BODY_INVALID')
    expect((await spend({ ...ask, subjects: ['é'.repeat(1_024)] })).body.code).toBe(
      'SUBJECT_INVALID',
    )
    expect((await spend({ ...ask, subjects: subjects.slice(1) })).body.allowed).toBe(true)
  })

  test('is limited by the smallest rate of its subjects where the limit says so', async () => {
    const { spend, set, clock } = await open(
      'Mails: { id: opaque, burst: 9, count: 10, period: 10s, rateFrom: subject }',
    )
    await set('a.test', 5)
    await set('ann@a.test', 2)
    const mail = { limit: 'Mails', id: 'ann', subjects: ['did:mailto:a.test:ann'] }
    expect((await spend(mail)).body).toMatchObject({ allowed: true, resetAfterMs: 5_000 })
    expect((await spend(mail)).body).toMatchObject({ reason: 'RATE_LIMIT', retryAfterMs: 5_000 })
    clock.advance(seconds(5))
    expect((await spend(mail)).body.allowed).toBe(true)
    expect((await spend({ limit: 'Mails', id: 'bob' })).body).toMatchObject({ resetAfterMs: 1_000 })
  })

  test('costs no round trip of the store beyond that of its bucket', async () => {
    let trips = 0
    const { app, headgate } = testServer({
      subjects: testSubjects(),
      wrap: (store) => ({
        ...store,
        transact: (step, guess) => {
          trips += 1
          return store.transact(step, guess)
        },
      }),
    })
    await on(headgate.subjects).gate.catchUp()
    const payload = { ...ask, subjects: ['ann@a.test', '192.0.2.1'] }
    await app.inject({ method: 'POST', url: '/v1/spend', payload })
    expect(trips).toBe(1)
  })
})

describe('the gate', () => {
  test('answers a blocked subject 403, or what refuseWith says', async () => {
    const { app, set } = await open()
    await set('a.test', 0)
    const url = '/v1/gate?limit=PerKey&id=ann&subject=192.0.2.1&subject=x%40a.test'
    const reply = await app.inject(url)
    expect(reply.statusCode).toBe(403)
    expect(reply.json()).toMatchObject({ code: 'SUBJECT_BLOCKED', status: 403, retryAfterMs: null })
    expect((await app.inject(`${url}&refuseWith=401`)).statusCode).toBe(401)
    expect((await app.inject('/v1/gate?limit=PerKey&id=ann&subject=b.test')).statusCode).toBe(204)
  })
})

describe('GET /v1/subjects/{subject}', () => {
  test('says which rates apply, where they come from, and by what right', async () => {
    const { app, set, clock } = await open()
    const at = Math.floor(clock() / 1_000_000)
    const id = await set('A.test', 0, { reason: 'spam', label: 'fraud' })
    const wide = await set('ann@a.test', 2.5)
    const reply = await app.inject('/v1/subjects/did%3Amailto%3Aa.test%3AAnn')
    expect(reply.json()).toEqual({
      subject: 'did:mailto:a.test:Ann',
      blocked: true,
      rate: 2.5,
      rates: [
        {
          id: wide,
          subject: 'ann@a.test',
          matched: 'mail:ann@a.test',
          rate: 2.5,
          at,
          by: BY,
        },
        {
          id,
          subject: 'A.test',
          matched: 'name:a.test',
          rate: 0,
          at,
          by: BY,
          reason: 'spam',
          label: 'fraud',
        },
      ],
    })
    expect((await app.inject('/v1/subjects/b.test')).json()).toEqual({
      subject: 'b.test',
      blocked: false,
      rates: [],
    })
  })

  test('refuses what cannot be a subject', async () => {
    const { app } = await open()
    const reply = await app.inject('/v1/subjects/%20')
    expect([reply.statusCode, reply.json().code]).toEqual([400, 'SUBJECT_INVALID'])
  })
})

describe('while the store cannot be read', () => {
  const deaf = () => {
    const down = new StoreError({ code: 'STORE_UNAVAILABLE', thing: 'store', rule: 'must answer' })
    return testServer({
      subjects: testSubjects(),
      wrap: (store) => ({ ...store, range: () => Promise.reject(down) }),
    })
  }

  test('the policy of each limit acts for charges that name subjects', async () => {
    const { app } = deaf()
    const spend = (limit: string, subjects: string[]) =>
      app.inject({ method: 'POST', url: '/v1/spend', payload: { limit, id: 'ann', subjects } })
    expect((await spend('PerKey', ['a.test'])).statusCode).toBe(503)
    expect((await spend('OpenWhenDown', ['a.test'])).json()).toMatchObject({
      allowed: true,
      reason: 'STORE_UNAVAILABLE',
    })
    expect((await spend('PerKey', [])).json().allowed).toBe(true)
  })

  test('the server is not ready, and metrics say so', async () => {
    const { app } = deaf()
    const reply = await app.inject('/readyz')
    expect(reply.statusCode).toBe(503)
    expect(reply.json().reasons).toEqual(['subjects: no change could be read for a second'])
    expect((await app.inject('/metrics')).body).toMatch(/^headgate_subjects_heard 0$/m)
  })
})

test('metrics count blocked charges apart, and signature checks', async () => {
  const { app, set, spend } = await open()
  await set('a.test', 0)
  await spend({ limit: 'PerKey', id: 'ann', subjects: ['a.test'] })
  const { body } = await app.inject('/metrics')
  expect(body).toContain(
    'headgate_decisions_total{limit="PerKey",verb="spend",outcome="blocked"} 1',
  )
  expect(body).toMatch(/^headgate_subjects_heard 1$/m)
  expect(body).toMatch(/^headgate_ucan_signature_checks_total 0$/m)
})
