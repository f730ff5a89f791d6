import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../../test/support/cli.ts'
import { configFolder } from '../../../test/support/config-folder.ts'
import { spendingServer } from '../../../test/support/spending-server.ts'
import { days, minutes, seconds } from '../../core/time.ts'
import { memory } from '../../stores/memory/index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { openHeadgate } from '../app/headgate.ts'

const CONFIG = `
spending:
  total: 1000
  tiers: { BASIC: 300, EXTENDED: 500, PRIVILEGED: 800 }
  plansFile: plans.json
`
const plans = (...entries: readonly object[]) => JSON.stringify(entries)
const PARTNER = { id: 'partner', ethAddresses: ['0xA1'], subscriptionType: 'EXTENDED' }

const open = async (config = CONFIG, environment: Record<string, string> = {}) => {
  const { path, write } = configFolder({ 'headgate.yml': config, 'plans.json': plans(PARTNER) })
  const lines: string[] = []
  const told: object[] = []
  const tell = (facts: object, message: string) => {
    lines.push(message)
    told.push(facts)
  }
  const headgate = await openHeadgate({
    flags: { config: join(path, 'headgate.yml'), store: `sqlite:${join(path, 'headgate.db')}` },
    environment,
    serving: true,
    log: { info: tell, warn: tell, error: tell },
  })
  onTestFinished(() => headgate.close())
  const service = headgate.spending
  if (service === undefined) throw new Error('spending is configured')
  return { headgate, service, spending: service.spending, write, lines, told, path }
}

describe('plans that change while a server runs', () => {
  test('are felt as soon as the file is saved; what was spent stays spent', async () => {
    const { spending, write, lines } = await open()
    await spending.record({ from: '0xa1', amount: 450n })
    write(
      'plans.json',
      plans(
        { ...PARTNER, ethAddresses: ['0xA1', '0xB2'] },
        { ...PARTNER, id: 'new', ethAddresses: ['0xC3'] },
      ),
    )
    await until(async () => (await spending.check({ from: '0xc3' })).plan?.id === 'new')
    expect((await spending.check({ from: '0xb2' })).plan).toMatchObject({
      id: 'partner',
      spent: 450n,
    })
    expect(lines).toContain('spending plans reloaded')
  })

  test('with a mistake leave the last good ones, and the mistake is told', async () => {
    const { headgate, spending, write, lines } = await open()
    write('plans.json', plans(PARTNER, PARTNER))
    await until(() => headgate.catalog.status().problem !== undefined)
    expect(headgate.catalog.status().problem).toContain('plans.json')
    expect((await spending.check({ from: '0xa1' })).plan?.id).toBe('partner')
    expect(lines.some((line) => line.startsWith('reload refused'))).toBe(true)
  })

  test('settings change too, and neither frees nor refunds anything', async () => {
    const { headgate, spending, write } = await open()
    await spending.record({ from: '0xb2', amount: 300n })
    write('headgate.yml', CONFIG.replace('BASIC: 300', 'BASIC: 310'))
    await headgate.catalog.reload()
    expect((await spending.check({ from: '0xb2', estimate: 11n })).reason).toBe('PLAN_LIMIT')
    expect((await spending.check({ from: '0xb2', estimate: 10n })).allowed).toBe(true)
  })

  test('the payer and the unit need a restart, and the log says so', async () => {
    const { headgate, service, write, lines } = await open()
    write('headgate.yml', `${CONFIG}  payer: 0.0.9\n`)
    await headgate.catalog.reload()
    expect(service.settings().payer).toBe('operator')
    expect(lines).toContain('changed settings that need a restart: spending.payer')
  })
})

test('a section that goes changes nothing until a restart: nobody is let through by a slip', async () => {
  const { headgate, spending, service, write, lines } = await open()
  const before = service.settings()
  write('headgate.yml', 'limits: {}')
  await headgate.catalog.reload()
  expect(spending.isEnabled()).toBe(true)
  expect(service.settings()).toEqual(before)
  expect(lines).toContainEqual(expect.stringContaining('spending left the configuration'))
})

test('a total of 0 switches spending off, and the log says so', async () => {
  const { headgate, spending, write, lines } = await open()
  write('headgate.yml', CONFIG.replace(/total: .*/, 'total: 0'))
  await headgate.catalog.reload()
  expect(spending.isEnabled()).toBe(false)
  expect(lines).toContainEqual(expect.stringContaining('spending is off'))
})

test('a policy of compaction that is too short is refused at the start and at a reload', async () => {
  const hasty = `${CONFIG}  compactAfter: 1m\n`
  await expect(open(hasty)).rejects.toMatchObject({
    code: 'COMPACTION_TOO_SOON',
    at: { line: 6, column: 17 },
  })
  const { headgate, service, write } = await open()
  write('headgate.yml', hasty)
  await expect(headgate.catalog.reload()).rejects.toMatchObject({ code: 'COMPACTION_TOO_SOON' })
  expect(service.settings().compactAfter).toBeUndefined()
})

test('variables win over the section, tier by tier', async () => {
  const { service } = await open(CONFIG, { HBAR_RATE_LIMIT_BASIC: '7' })
  expect(service.settings()).toMatchObject({ total: 1_000n, tiers: { BASIC: 7n, EXTENDED: 500n } })
})

test('tiers out of order are told and stop nothing', async () => {
  const { lines } = await open(CONFIG.replace('BASIC: 300', 'BASIC: 600'))
  expect(lines.some((line) => line.includes('BASIC may spend'))).toBe(true)
})

test('fees that were queued and not booked are booked by the next server', async () => {
  const config = `${CONFIG}  queueFile: fees.queue\n`
  const { headgate, service, path } = await open(config)
  await service.queue?.add({ verb: 'record', from: '0xb2', amount: 5n, operationId: 'fee-1' })
  await service.queue?.drained()
  const [line = ''] = readFileSync(join(path, 'fees.queue'), 'utf8').split('\n')
  await headgate.close()
  // As a crash leaves it: the note that it was booked did not reach the disk, so it comes twice.
  appendFileSync(join(path, 'fees.queue'), `${line}\n`)
  const again = await openHeadgate({
    flags: { config: join(path, 'headgate.yml'), store: `sqlite:${join(path, 'headgate.db')}` },
    serving: true,
  })
  onTestFinished(() => again.close())
  await again.spending?.queue?.drained()
  expect(await again.spending?.spending.plan('basic:0xb2')).toMatchObject({ spent: 5n })
})

test('a queued fee that can never be booked is told as what it is, and counted', async () => {
  const { headgate, service, lines, told, path } = await open(`${CONFIG}  queueFile: fees.queue\n`)
  await service.queue?.add({ verb: 'capture', holdId: 'nonsense', amount: 5n })
  await service.queue?.drained()
  expect(lines.slice(1)).toEqual(['a queued fee cannot be booked: it was put aside'])
  expect(told.slice(1)).toEqual([
    {
      code: 'HOLD_NOT_FOUND',
      thing: expect.stringContaining('hold'),
      rule: expect.any(String),
      finding: 'none',
      file: join(path, 'fees.queue.refused'),
    },
  ])
  expect(await headgate.metrics.text(headgate.catalog)).toContain(
    'headgate_spending_queue_refused_total{payer="operator"} 1\n',
  )
})

test('a server reads the balance of its operator from a mirror node', async () => {
  const mirror = createServer((_, response) => {
    const balance = { balance: 5_000, timestamp: '1704067200.000000000' }
    response.end(JSON.stringify({ account: '0.0.2', balance }))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    mirror.close()
  })
  await once(mirror, 'listening')
  const { port } = mirror.address() as AddressInfo
  const source = `{ mirrorNode: 'http://127.0.0.1:${port}', account: 0.0.2 }`
  const { spending } = await open(`${CONFIG}  operator: { balance: ${source} }\n`)
  await until(async () => (await spending.overview()).balance !== undefined)
  expect((await spending.overview()).balance).toMatchObject({ amount: 5_000n })
})

describe('metrics', () => {
  test('count admissions and refusals by reason and tier, and say how it stands', async () => {
    const { post, get, clock } = await spendingServer()
    await post('/v1/spending/hold', { from: '0xb2', estimate: '300' })
    clock.advance(minutes(1))
    await post('/v1/spending/check', { from: '0xb2', estimate: '1' })
    await post('/v1/spending/record', { from: '0xa1', amount: '600' })
    await post('/v1/spending/hold', { from: '0xa1', estimate: '200', operation: 'FileCreate' })
    await post('/v1/spending/balance', { amount: '5000' })
    clock.advance(seconds(30))
    const { text } = await get('/metrics')
    for (const line of [
      'headgate_spending_admissions_total{verb="hold",tier="BASIC"} 1',
      'headgate_spending_refusals_total{verb="check",reason="PLAN_LIMIT",tier="BASIC"} 1',
      'headgate_spending_bookings_total{verb="record",tier="EXTENDED",outcome="booked"} 1',
      'headgate_spending_charged_total{tier="EXTENDED"} 600',
      'headgate_spending_total_limit{payer="0.0.2"} 1000',
      'headgate_spending_remaining{payer="0.0.2"} 100',
      'headgate_spending_held{payer="0.0.2"} 300',
      'headgate_spending_oldest_hold_seconds{payer="0.0.2"} 90',
      'headgate_spending_balance{payer="0.0.2"} 5000',
      'headgate_spending_balance_age_seconds{payer="0.0.2"} 30',
      'headgate_spending_plans{tier="EXTENDED"} 1',
      'rpc_relay_hbar_rate_limit{mode="TRANSACTION",methodName="FileCreate"} 1',
      'rpc_relay_hbar_rate_remaining 100',
      'rpc_relay_hbar_rate_total_limit 1000',
      'rpc_relay_operator_balance{accountId="0.0.2"} 5000',
      'unique_spending_plans_counter_extended 1',
      'average_spending_plan_amount_spent_gauge_extended 600',
    ]) {
      expect(text).toContain(`${line}\n`)
    }
    expect(text).toContain('unique_spending_plans_counter_basic 0\n')
    expect(text).not.toMatch(/^headgate_spending_(drift|queue_pending)\{/m)
  })

  test('count plans as the store does: after a restart, on another server, and in a new window', async () => {
    const clock = fakeClock('2024-01-01T00:00:00Z')
    const store = memory({ clock })
    const servers = [
      await spendingServer({ wrap: () => store }),
      await spendingServer({ wrap: () => store }),
    ]
    const [first, second] = servers
    if (first === undefined || second === undefined) throw new Error('two servers')
    const counted = async (server: typeof first) =>
      (await server.get('/metrics')).text
        .split('\n')
        .filter((line) => /^(unique|average)_spending_\w+_(basic|extended) /.test(line))
    await first.post('/v1/spending/record', { from: '0xb1', amount: '10', operationId: 'r' })
    await first.post('/v1/spending/record', { from: '0xb1', amount: '10' })
    await second.post('/v1/spending/record', { from: '0xb2', amount: '40' })
    await second.post('/v1/spending/hold', { from: '0xa1', estimate: '40' })
    const found = [
      'unique_spending_plans_counter_basic 2',
      'average_spending_plan_amount_spent_gauge_basic 30',
      'unique_spending_plans_counter_extended 0',
      'average_spending_plan_amount_spent_gauge_extended 0',
    ]
    const restarted = await spendingServer({ wrap: () => store })
    for (const server of [first, second, restarted]) expect(await counted(server)).toEqual(found)
    await first.post('/v1/spending/reverse', { of: 'r', reason: 'a slip' })
    expect(await counted(second)).toContain('average_spending_plan_amount_spent_gauge_basic 25')
    clock.advance(days(1))
    expect(await counted(second)).toEqual(found.map((line) => line.replace(/ \d+$/, ' 0')))
  })
})

describe('at its start', () => {
  test('a server logs its plans by id and name', async () => {
    const named = CONFIG.replace(
      'plansFile: plans.json',
      "plans: [{ id: partner, name: a partner, ethAddresses: ['0xA1'], subscriptionType: EXTENDED }]",
    )
    const { lines, told } = await open(named)
    expect(told[lines.indexOf('spending plan')]).toEqual({
      id: 'partner',
      name: 'a partner',
      tier: 'EXTENDED',
    })
  })

  test('it logs a hundred of many, and says how many there are', async () => {
    const many = Array.from({ length: 103 }, (_, n) => ({
      ...PARTNER,
      id: `plan-${n}`,
      ethAddresses: [`0x${n.toString(16)}`],
    }))
    const config = CONFIG.replace('plansFile: plans.json', `plans: ${JSON.stringify(many)}`)
    const { lines, told } = await open(config)
    expect(lines.filter((line) => line === 'spending plan')).toHaveLength(100)
    expect(told).toContainEqual({ more: 3 })
  })
})
