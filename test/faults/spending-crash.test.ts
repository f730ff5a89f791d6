/** `kill -9` of a server that spends: the books agree to the unit, and what was acknowledged is there once. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { days, instant, millis } from '../../src/core/time.ts'
import { createSpending, NO_PLANS } from '../../src/spending/index.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { until } from '../support/cli.ts'
import { countdown } from '../support/countdown.ts'
import { times } from '../support/counts.ts'
import { temporaryFolder } from '../support/folder.ts'
import { SETTINGS } from '../support/ledger-desk.ts'
import { type Served, serve } from '../support/serve.ts'

const TOTAL = 3_000_000
const PER_USER = 900
const HOLD_MS = 4_000
const CALLERS = 24
const WINDOW = { length: days(3_650), align: 'epoch' } as const
const CONFIG = `
spending:
  payer: 0.0.2
  total: ${TOTAL}
  window: 3650d
  holdFor: ${HOLD_MS}ms
  tiers: { BASIC: ${PER_USER}, EXTENDED: 20000, PRIVILEGED: 50000 }
  plans: [{ id: partner, ethAddresses: ['0xfff'], subscriptionType: EXTENDED }]
  queueFile: fees.queue
`

interface Reply {
  readonly allowed?: boolean
  readonly holdId?: string
  readonly plan?: { readonly id: string }
  readonly charged?: string
  readonly replayed?: boolean
  readonly queued?: boolean
}

/** What the server acknowledged, and nothing else. */
interface Acknowledged {
  /** Bodies of captures by operation id. */
  readonly captures: Map<string, { readonly holdId: string; readonly amount: string }>
  readonly queued: Set<string>
  /** Holds that were settled, with what they ended at. */
  readonly settled: Map<string, string>
  /** Of general users: few holds are open on each at once. */
  readonly plans: Set<string>
}

/** Undefined when the connection broke: then nothing was acknowledged. */
const ask = async (server: Served, verb: string, body: object): Promise<Reply | undefined> => {
  try {
    const response = await server.post(`/v1/spending/${verb}`, body)
    return (await response.json()) as Reply
  } catch {
    return undefined
  }
}

/** Holds, captures part, and settles, leaves it to expire or lets the queue capture it. */
const spendOnce = async (server: Served, name: string, n: number, known: Acknowledged) => {
  const from = n % 5 === 0 ? '0xfff' : `0x${Buffer.from(name).toString('hex').slice(-8)}${n % 3}`
  const held = await ask(server, 'hold', { from, estimate: '90', operationId: `hold-${name}` })
  if (held === undefined) return false
  if (held.holdId === undefined) return true
  if (held.plan?.id.startsWith('basic:')) known.plans.add(held.plan.id)
  const { holdId } = held
  const body = { holdId, amount: String(10 + (n % 50)) }
  const operationId = `fee-${name}`
  const queue = n % 3 === 0
  const captured = await ask(server, 'capture', { ...body, operationId, queue })
  if (captured === undefined) return false
  known.captures.set(operationId, body)
  if (captured.queued === true) known.queued.add(operationId)
  if (queue || n % 4 === 0) return true
  const amount = String(60 + (n % 30))
  const settled = await ask(server, 'settle', { holdId, amount })
  if (settled === undefined) return false
  known.settled.set(holdId, amount)
  return true
}

/** Spends until the server is gone, and tells of each time that it came to an end. */
const load = async (server: Served, round: number, known: Acknowledged, spent: () => void) => {
  const caller = async (name: number) => {
    for (let n = 0; await spendOnce(server, `${round}-${name}-${n}`, n, known); n++) spent()
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, name) => caller(name)))
}

const metricsOf = async (server: Served) => (await fetch(`${server.url}/metrics`)).text()

const getJson = async (server: Served, path: string) =>
  (await (await fetch(`${server.url}${path}`)).json()) as Record<string, string>

/** After a restart: the books agree, and saying it again changes nothing. */
const inspect = async (server: Served, known: Acknowledged) => {
  expect(await getJson(server, '/v1/spending/verify')).toMatchObject({
    agrees: true,
    findings: [],
  })
  const direct = [...known.captures].filter(([id]) => !known.queued.has(id)).slice(-10)
  for (const [operationId, body] of direct) {
    const again = await ask(server, 'capture', { ...body, operationId })
    expect(again).toMatchObject({ replayed: true, charged: body.amount })
  }
  for (const [holdId, amount] of [...known.settled].slice(-10)) {
    expect(await ask(server, 'settle', { holdId, amount })).toMatchObject({ replayed: true })
  }
}

interface Line {
  readonly kind: string
  readonly hold?: string
  readonly operationId?: string
  readonly flags?: readonly string[]
  readonly moves: readonly { readonly to: string; readonly amount: string }[]
}

test('killed in a loop, it loses no fee, doubles none, and never overspends', async () => {
  const folder = temporaryFolder()
  const config = join(folder, 'headgate.yml')
  writeFileSync(config, CONFIG)
  const store = join(folder, 'headgate.db')
  const flags = ['--config', config, '--store', `sqlite:${store}`]
  const known: Acknowledged = {
    captures: new Map(),
    queued: new Set(),
    settled: new Map(),
    plans: new Set(),
  }
  const rounds = times(1, 50)
  let server = await serve(flags)
  let lastKill = 0
  for (let round = 0; round < rounds; round++) {
    // After a different number of fees in each round, with as many under way as callers.
    const { tick, over } = countdown(CALLERS + ((round * 53) % 240))
    const loaded = load(server, round, known, tick)
    await Promise.race([over, loaded])
    await server.child.kill('SIGKILL')
    lastKill = Date.now()
    await loaded
    server = await serve(flags)
    await inspect(server, known)
  }
  expect(known.captures.size).toBeGreaterThan(rounds)
  expect(known.queued.size).toBeGreaterThan(0)

  await until(async () => /queue_pending\{[^}]*\} 0$/m.test(await metricsOf(server)))
  const text = await (await fetch(`${server.url}/v1/spending/ledger`)).text()
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line): Line => JSON.parse(line))

  const counted = new Map<string, number>()
  for (const { kind, operationId } of lines) {
    if (kind !== 'capture' || operationId === undefined) continue
    counted.set(operationId, (counted.get(operationId) ?? 0) + 1)
  }
  const wrong = [...known.captures.keys()].filter((id) => counted.get(id) !== 1)
  expect(wrong).toEqual([])
  const spentOf = (some: readonly Line[]) =>
    some
      .flatMap(({ moves }) => moves)
      .reduce((sum, { to, amount }) => sum + (to === 'spent' ? BigInt(amount) : 0n), 0n)
  for (const [holdId, amount] of known.settled) {
    const [kept] = holdId.split('~')
    expect(spentOf(lines.filter(({ hold }) => hold === kept))).toBe(BigInt(amount))
  }
  // A fee that the queue booked after its hold had expired may come on top: it was spent all the same.
  const late = Number(spentOf(lines.filter(({ flags }) => flags?.includes('late'))))
  const { total } = await getJson(server, '/v1/spending/report')
  expect(total).toBe(spentOf(lines).toString())
  expect(Number(total)).toBeLessThanOrEqual(TOTAL + late)
  const { spent } = await getJson(server, '/v1/plans/partner')
  expect(Number(spent)).toBeLessThanOrEqual(20_000 + late)
  await server.child.kill('SIGTERM')
  expect(await server.child.ended).toBe(0)
  await expectNoHoldOutlives(store, known, lastKill + HOLD_MS)
})

const expectNoHoldOutlives = async (path: string, known: Acknowledged, atMs: number) => {
  const store = sqlite({ path, clock: () => instant(atMs * 1_000) })
  const settings = { ...SETTINGS, holdFor: millis(HOLD_MS), window: WINDOW }
  const spending = createSpending({ store, settings: () => settings, plans: () => NO_PLANS })
  for (const plan of known.plans) expect((await spending.plan(plan)).held, plan).toBe(0n)
  expect((await spending.overview()).held).toBe(0n)
  expect(await spending.verify()).toMatchObject({ findings: [] })
  await store.close()
}
