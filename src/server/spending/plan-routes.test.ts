import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { SPENDING, spendingServer } from '../../../test/support/spending-server.ts'
import { seconds } from '../../core/time.ts'
import { verifyExport } from '../../spending/index.ts'

describe('plans', () => {
  test('of the file and of the store are listed together, by id', async () => {
    const { post, get } = await spendingServer()
    await post('/v1/plans', { id: 'guest', tier: 'BASIC', limit: '50', name: 'a guest' })
    expect(JSON.parse((await get('/v1/plans')).text)).toEqual({
      plans: [
        {
          id: 'guest',
          tier: 'BASIC',
          name: 'a guest',
          limit: '50',
          active: true,
          createdAt: '2024-01-01T00:00:00.000000Z',
          source: 'store',
        },
        {
          id: 'partner',
          tier: 'EXTENDED',
          name: 'a partner',
          limit: '500',
          active: true,
          source: 'file',
        },
      ],
    })
    expect(JSON.parse((await get('/v1/plans?after=guest')).text).plans).toHaveLength(1)
  })

  test('are listed page by page, however many there are and whichever the file hides', async () => {
    const { post, get, reload } = await spendingServer()
    const ids = Array.from({ length: 1_005 }, (_, i) => `q${String(i).padStart(4, '0')}`)
    for (let from = 0; from < ids.length; from += 15) {
      const some = ids.slice(from, from + 15)
      await Promise.all(some.map((id) => post('/v1/plans', { id, tier: 'BASIC' })))
    }
    await reload(
      `${SPENDING}  - { id: q0001, ethAddresses: ['0xB7'], subscriptionType: EXTENDED }\n`,
    )
    const pages: string[][] = []
    let next: string | undefined = 'partner'
    while (next !== undefined) {
      const page: { plans: { id: string }[]; next?: string } = JSON.parse(
        (await get(`/v1/plans?after=${next}`)).text,
      )
      pages.push(page.plans.map(({ id }) => id))
      next = page.next
    }
    expect(pages.map((page) => page.length)).toEqual([1_000, 5])
    expect(pages.flat()).toEqual(ids)
  })

  test('are shown with who they are for, and how they stand', async () => {
    const { post, get } = await spendingServer()
    await post('/v1/plans', { id: 'guest', tier: 'BASIC' })
    await post('/v1/plans/guest/link', { address: '0xC3' })
    await post('/v1/plans/guest/link', { ip: '198.51.100.7' })
    await post('/v1/spending/record', { from: '0xc3', amount: '30' })
    expect(JSON.parse((await get('/v1/plans/guest')).text)).toMatchObject({
      limit: '300',
      spent: '30',
      remaining: '270',
      addresses: ['0xc3'],
      ips: ['198.51.100.7'],
      daily: { '2024-01-01': '30' },
      monthly: { '2024-01': '30' },
    })
    expect(JSON.parse((await get('/v1/plans/partner')).text)).toMatchObject({
      addresses: ['0xa1'],
      ips: ['192.0.2.0/24'],
    })
    const unknown = await get('/v1/plans/nobody')
    expect([unknown.status, JSON.parse(unknown.text).code]).toEqual([404, 'PLAN_NOT_FOUND'])
  })

  test('are switched off and on, linked and unlinked', async () => {
    const { post } = await spendingServer()
    await post('/v1/plans', { id: 'guest', tier: 'BASIC' })
    await post('/v1/plans/guest/link', { address: '0xc3' })
    expect((await post('/v1/plans/guest/deactivate')).body).toMatchObject({ active: false })
    const ask = { from: '0xc3', estimate: '1' }
    expect((await post('/v1/spending/hold', ask)).body.reason).toBe('PLAN_INACTIVE')
    expect((await post('/v1/plans/guest/activate')).body).toMatchObject({ active: true })
    expect((await post('/v1/spending/hold', ask)).body.plan.id).toBe('guest')
    await post('/v1/plans/guest/unlink', { address: '0xc3' })
    expect((await post('/v1/spending/hold', ask)).body.plan.id).toBe('basic:0xc3')
  })

  test('of the file are changed in the file', async () => {
    const { post } = await spendingServer()
    const reply = await post('/v1/plans/partner/deactivate')
    expect([reply.status, reply.body.code]).toEqual([409, 'PLAN_IN_FILE'])
  })

  test('are given more, once', async () => {
    const { post } = await spendingServer()
    const grant = { amount: '100', expiresAt: '2024-02-01T00:00:00Z', reason: 'a fair' }
    const { body } = await post('/v1/plans/partner/grant', grant)
    expect(body).toMatchObject({ plan: { id: 'partner', remaining: '600' } })
    const past = await post('/v1/plans/partner/grant', {
      ...grant,
      expiresAt: '2020-01-01T00:00:00Z',
    })
    expect([past.status, past.body.code]).toEqual([400, 'GRANT_INVALID'])
    const wrong = await post('/v1/plans/partner/grant', { ...grant, expiresAt: 'tomorrow' })
    expect([wrong.status, wrong.body.code]).toEqual([400, 'BODY_INVALID'])
  })

  test('have grants, which are given once, listed and voided', async () => {
    const { post, get } = await spendingServer()
    const ask = { amount: '100', operationId: 'fair-1', reason: 'a fair' }
    const { body } = await post('/v1/plans/partner/grant', ask)
    const again = await post('/v1/plans/partner/grant', ask)
    expect(again.body).toEqual({ ...body, replayed: true })
    const grants = [
      {
        id: body.grantId,
        amount: '100',
        spent: '0',
        pinned: '0',
        left: '100',
        priority: 0,
        reason: 'a fair',
        actor: 'local',
      },
    ]
    expect(JSON.parse((await get('/v1/plans/partner/grants')).text)).toEqual({ grants })
    expect(JSON.parse((await get('/v1/plans/partner')).text)).toMatchObject({ grants })
    const voided = { grant: body.grantId, reason: 'a slip' }
    expect((await post('/v1/plans/partner/void', voided)).body).toMatchObject({
      voided: '100',
      pinned: '0',
      plan: { id: 'partner', remaining: '500' },
    })
    const gone = await post('/v1/plans/partner/void', voided)
    expect([gone.status, gone.body.code]).toEqual([404, 'GRANT_NOT_FOUND'])
    const reused = await post('/v1/plans/partner/grant', { ...ask, amount: '101' })
    expect([reused.status, reused.body.code]).toEqual([409, 'OPERATION_ID_REUSED'])
  })

  test('are changed and retired', async () => {
    const { post, get } = await spendingServer()
    await post('/v1/plans', { id: 'guest', tier: 'BASIC', limit: '50' })
    const change = await post('/v1/plans/guest/change', { limit: 'tier', tier: 'PRIVILEGED' })
    expect(change.body).toMatchObject({ tier: 'PRIVILEGED', limit: '800' })
    const retiredAt = '2024-01-01T00:00:00.000000Z'
    expect((await post('/v1/plans/guest/retire')).body).toMatchObject({ retiredAt, active: false })
    expect(JSON.parse((await get('/v1/plans')).text).plans[0]).toMatchObject({ retiredAt })
    for (const [path, body, status, code] of [
      ['guest/change', { limit: '1' }, 409, 'PLAN_RETIRED'],
      ['partner/change', { limit: '1' }, 409, 'PLAN_IN_FILE'],
      ['basic:0xb2/change', {}, 400, 'PLAN_CHANGE_EMPTY'],
      ['basic:0xb2/change', { limit: 'many' }, 400, 'AMOUNT_INVALID'],
      ['basic:0xb2/retire', {}, 409, 'PLAN_IMPLICIT'],
    ] as const) {
      const reply = await post(`/v1/plans/${path}`, body)
      expect([reply.status, reply.body.code]).toEqual([status, code])
    }
  })

  test('have open holds, which are listed for those who may settle them', async () => {
    const { post, get } = await spendingServer()
    const { body } = await post('/v1/spending/hold', { from: '0xa1', estimate: '30' })
    await post('/v1/spending/hold', { from: '0xb2', estimate: '20' })
    await post('/v1/spending/capture', { holdId: body.holdId, amount: '10' })
    expect(JSON.parse((await get('/v1/spending/holds?plan=partner')).text)).toEqual({
      holds: [
        {
          holdId: body.holdId,
          plan: 'partner',
          tier: 'EXTENDED',
          member: '0xa1',
          operation: 'Unspecified',
          mode: 'TRANSACTION',
          amount: '30',
          open: '20',
          captured: '10',
          madeAt: '2024-01-01T00:00:00.000000Z',
          expiresAt: body.expiresAt,
          window: '2024-01-01T00:00:00.000000Z',
        },
      ],
    })
    const first = JSON.parse((await get('/v1/spending/holds?limit=1')).text)
    const rest = JSON.parse((await get(`/v1/spending/holds?after=${first.next}`)).text)
    expect([...first.holds, ...rest.holds].map(({ member }) => member).sort()).toEqual([
      '0xa1',
      '0xb2',
    ])
    const wrong = await get('/v1/spending/holds?after=x')
    expect([wrong.status, JSON.parse(wrong.text).code]).toEqual([400, 'HOLDS_ASK_INVALID'])
  })

  test('have a history, page by page', async () => {
    const { post, get } = await spendingServer()
    for (const amount of ['1', '2', '3']) {
      await post('/v1/spending/record', { from: '0xa1', amount, transactionId: `tx-${amount}` })
    }
    const first = JSON.parse((await get('/v1/plans/partner/history?limit=2')).text)
    expect(first.entries).toMatchObject([
      {
        kind: 'capture',
        moves: [{ amount: '1' }],
        note: { transactionId: 'tx-1', actor: 'local' },
      },
      { moves: [{ amount: '2' }] },
    ])
    const rest = JSON.parse((await get(`/v1/plans/partner/history?after=${first.next}`)).text)
    expect(rest.entries).toMatchObject([{ moves: [{ amount: '3' }] }])
    expect(rest).not.toHaveProperty('next')
  })
})

describe('a file of plans', () => {
  const diff = async (text: string) => {
    const { post } = await spendingServer()
    return post('/v1/spending/diff', { text, name: 'new.json' })
  }

  test('is compared with the one in force before it is', async () => {
    const text = JSON.stringify([
      { id: 'other', ethAddresses: ['0xA1', '0xd4'], subscriptionType: 'PRIVILEGED' },
    ])
    expect((await diff(text)).body).toEqual({
      changes: true,
      added: ['other'],
      removed: ['partner'],
      updated: [],
      linksAdded: [
        { link: '0xa1', planId: 'other' },
        { link: '0xd4', planId: 'other' },
      ],
      linksRemoved: [
        { link: '0xa1', planId: 'partner' },
        { link: '192.0.2.0/24', planId: 'partner' },
      ],
      plans: [
        expect.objectContaining({ id: 'other', over: '0' }),
        expect.objectContaining({ id: 'partner', over: '0' }),
      ],
    })
  })

  test('tells what changes from what to what, and who would be over at once', async () => {
    const { post } = await spendingServer()
    await post('/v1/spending/record', { from: '0xa1', amount: '450' })
    await post('/v1/spending/hold', { from: '0xa1', estimate: '20' })
    const entry = {
      id: 'partner',
      name: 'a partner',
      ethAddresses: ['0xA1'],
      ipAddresses: ['192.0.2.0/24'],
    }
    const told = async (change: object) => {
      const text = JSON.stringify([{ ...entry, subscriptionType: 'EXTENDED', ...change }])
      return (await post('/v1/spending/diff', { text })).body.plans
    }
    expect(await told({ subscriptionType: 'BASIC', categories: { FileAppend: '7' } })).toEqual([
      {
        id: 'partner',
        fields: [
          { field: 'tier', old: 'EXTENDED', new: 'BASIC' },
          { field: 'limit', old: '500', new: '300' },
          { field: 'limit of FileAppend', old: null, new: '7' },
        ],
        spent: '450',
        held: '20',
        over: '170',
      },
    ])
    await post('/v1/plans/partner/grant', { amount: '1000' })
    expect(await told({ limit: '100' })).toMatchObject([{ spent: '450', over: '0' }])
    expect(await told({ limit: 'unlimited' })).toMatchObject([{ over: '0' }])
  })

  test.each([
    ['[{}]', 'PLAN_ID_MISSING', 2],
    ['{', 'CONFIG_NOT_JSON', 2],
    ['[{"id":"a","id":"b"}]', 'BODY_INVALID', 12],
  ])('%s is told as the mistake that it is, where it is', async (text, code, column) => {
    const { status, body } = await diff(text)
    expect([status, body.code]).toEqual([400, code])
    expect(body.at).toEqual({ file: 'new.json', line: 1, column })
    expect(body.detail).toContain(`new.json:1:${column}: `)
  })

  test('that is reloaded never refunds', async () => {
    const { post, reload } = await spendingServer()
    await post('/v1/spending/record', { from: '0xa1', amount: '450' })
    await reload(SPENDING.replace(/plans:[\s\S]*/, 'plans: []'))
    expect((await post('/v1/spending/check', { from: '0xa1' })).body.plan.id).toBe('basic:0xa1')
    await reload(SPENDING)
    expect((await post('/v1/spending/check', { from: '0xa1', estimate: '51' })).body).toMatchObject(
      { allowed: false, reason: 'PLAN_LIMIT', plan: { id: 'partner', spent: '450' } },
    )
  })
})

describe('the books', () => {
  test('are reported, and the sums add up', async () => {
    const { post, get } = await spendingServer()
    await post('/v1/spending/record', {
      from: '0xa1',
      amount: '10',
      operation: 'EthereumTransaction',
    })
    await post('/v1/spending/record', { amount: '5', operation: 'FileCreateTransaction' })
    await post('/v1/spending/record', { from: '0xb2', amount: '7', mode: 'QUERY' })
    expect(JSON.parse((await get('/v1/spending/report')).text)).toEqual({
      window: '2024-01-01T00:00:00.000000Z',
      unit: { name: 'HBAR', decimals: 8 },
      total: '22',
      byOperation: { EthereumTransaction: '10', FileCreateTransaction: '5', Unspecified: '7' },
      byFamily: { ETHEREUM: '10', HEDERA: '12' },
      byMode: { QUERY: '7', TRANSACTION: '15' },
      byTier: { BASIC: '7', EXTENDED: '10' },
    })
    const older = await get('/v1/spending/report?window=2023-12-31T00:00:00Z')
    expect(JSON.parse(older.text)).toMatchObject({ total: '0' })
  })

  test('are verified, and what was found is a metric', async () => {
    const { post, get } = await spendingServer()
    await post('/v1/spending/record', { from: '0xa1', amount: '10' })
    expect(JSON.parse((await get('/v1/spending/verify')).text)).toMatchObject({
      agrees: true,
      entries: 1,
      findings: [],
    })
    const { text } = await get('/metrics')
    expect(text).toContain('headgate_spending_drift{payer="0.0.2"} 0')
    expect(text).toContain('headgate_spending_verified_timestamp_seconds{payer="0.0.2"} 1704067200')
  })

  test('are exported with the hashes of the chain, which verify says too', async () => {
    const { post, get } = await spendingServer()
    await post('/v1/spending/record', { from: '0xa1', amount: '10' })
    const { body } = await post('/v1/spending/hold', { from: '0xa1', estimate: '10' })
    await post('/v1/spending/settle', { holdId: body.holdId, amount: '8' })
    const { head } = JSON.parse((await get('/v1/spending/verify')).text)
    const { text } = await get('/v1/spending/ledger')
    const found = await verifyExport(text.trimEnd().split('\n'))
    expect(found).toMatchObject({ findings: [], head: { number: head.number, hash: head.hash } })
    const csv = (await get('/v1/spending/ledger?format=csv')).text
    expect(csv.trimEnd().endsWith(head.hash)).toBe(true)
    const anchored = await get(`/v1/spending/verify?anchor=${head.number}:${head.hash}`)
    expect(JSON.parse(anchored.text)).toMatchObject({ agrees: true, anchor: 'holds' })
  })

  test('know the balance that somebody pushed, and refuse what it does not cover', async () => {
    const { post } = await spendingServer()
    const push = await post('/v1/spending/balance', { amount: '100' })
    expect(push.body).toEqual({ amount: '100', at: '2024-01-01T00:00:00.000000Z' })
    expect(
      (await post('/v1/spending/check', { from: '0xa1', estimate: '101' })).body,
    ).toMatchObject({ allowed: false, reason: 'OPERATOR_BALANCE' })
  })

  test('start again in a window that somebody opened early', async () => {
    const { post, clock } = await spendingServer()
    await post('/v1/spending/record', { from: '0xa1', amount: '500' })
    clock.advance(seconds(1))
    const { body } = await post('/v1/spending/window')
    expect(body).toMatchObject({ startsAt: '2024-01-01T00:00:01.000000Z' })
    expect((await post('/v1/spending/check', { from: '0xa1', estimate: '500' })).body.allowed).toBe(
      true,
    )
  })
})

test('what operators do needs the scope admin', async () => {
  const token = 'hg_decide'
  const sha256 = createHash('sha256').update(token).digest('hex')
  const tokens = [{ name: 'relay', sha256, scopes: ['decide'] as const }]
  const { post, get } = await spendingServer({ settings: { tokens } })
  const headers = { authorization: `Bearer ${token}` }
  const posts: readonly (readonly [string, object])[] = [
    ['/v1/plans', { id: 'a', tier: 'BASIC' }],
    ['/v1/plans/a/activate', {}],
    ['/v1/plans/a/deactivate', {}],
    ['/v1/plans/a/link', { address: '0x1' }],
    ['/v1/plans/a/unlink', { address: '0x1' }],
    ['/v1/plans/a/grant', { amount: '1' }],
    ['/v1/spending/balance', { amount: '1' }],
    ['/v1/spending/window', {}],
  ]
  for (const [url, body] of posts) {
    const reply = await post(url, body, headers)
    expect([reply.status, reply.body.code], url).toEqual([403, 'SCOPE_MISSING'])
  }
  for (const url of ['/v1/spending/verify', '/v1/spending/ledger']) {
    expect((await get(url, headers)).status, url).toBe(403)
  }
  const held = await post('/v1/spending/hold', { from: '0xb2', estimate: '1' }, headers)
  expect(held.body.allowed).toBe(true)
})
