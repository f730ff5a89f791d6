/** Three servers on one file, and the clock of one of them is wrong: the others do not notice. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { times } from '../support/counts.ts'
import { findFaketime } from '../support/faketime.ts'
import { temporaryFolder } from '../support/folder.ts'
import { announceServer, type Served, serve } from '../support/serve.ts'

const HOLD_MS = 180_000

/** Windows count from the first start, so none ends by itself while the test runs. */
const CONFIG = `
spending:
  payer: 0.0.2
  total: 100
  window: { length: 20d, align: start }
  holdFor: ${HOLD_MS}ms
  tiers: { BASIC: 100, EXTENDED: 100, PRIVILEGED: 100 }
`

const setClock = findFaketime()
if (typeof setClock === 'string') console.warn(`spending-clock: skipped, as ${setClock}`)

interface Reply {
  readonly status: number
  readonly holdId: string
  readonly window: object
  readonly retryAfterMs: number
  readonly reasons: readonly string[]
}

const replyOf = async (response: Response): Promise<Reply> => {
  const body = (await response.json()) as Omit<Reply, 'status'>
  return { ...body, status: response.status }
}

const ask = async (server: Served, path: string, body: object = {}) =>
  replyOf(await server.post(`/v1/spending/${path}`, body))

const readiness = async ({ url }: Served) => replyOf(await fetch(`${url}/readyz`))

const HOLD = { from: '0xb1', estimate: '60' } as const

/** Everything that the one with the wrong clock could do to the others. */
async function meddle(wrong: Served, holdId: string): Promise<void> {
  const ready = await readiness(wrong)
  expect(ready).toMatchObject({ status: 503, ready: false })
  expect(ready.reasons[0]).toMatch(/^spending: the clock was set (ahead|back) by \d+ s/)
  expect(await (await fetch(`${wrong.url}/metrics`)).text()).toContain(
    'headgate_spending_clock_trusted{payer="0.0.2"} 0',
  )
  for (const verb of ['check', 'hold']) {
    const refused = await ask(wrong, verb, { ...HOLD, estimate: '1' })
    expect(refused).toMatchObject({ allowed: false, reason: 'CLOCK_UNTRUSTED', window: null })
  }
  const closed = { status: 503, code: 'CLOCK_UNTRUSTED' }
  expect(await ask(wrong, 'record', { from: '0xb2', amount: '1' })).toMatchObject(closed)
  expect(await ask(wrong, 'settle', { holdId, amount: '1' })).toMatchObject(closed)
  expect(await ask(wrong, 'release', { holdId })).toMatchObject(closed)
  expect(await ask(wrong, 'window')).toMatchObject(closed)
}

const OFFSETS = ['+30d', '-30d', '+4m', '-4m']

test
  .skipIf(typeof setClock === 'string')
  .each(Array.from({ length: times(1, 5) }, () => OFFSETS).flat())(
  'a clock that is %s off changes no window, hold or retry time of the others',
  async (offset) => {
    if (typeof setClock === 'string') return
    const folder = temporaryFolder()
    const config = join(folder, 'headgate.yml')
    writeFileSync(config, CONFIG)
    const flags = ['--config', config, '--store', `sqlite:${join(folder, 'headgate.db')}`]
    const [one, other] = [await serve(flags), await serve(flags)]
    const held = await ask(one, 'hold', HOLD)
    expect(held).toMatchObject({ status: 200, allowed: true })

    const wrong = await announceServer(['serve', ...flags], setClock(offset))
    await meddle(wrong, held.holdId)

    const second = await ask(other, 'hold', HOLD)
    expect(second).toMatchObject({ allowed: false, reason: 'TOTAL_BUDGET', window: held.window })
    expect(second.retryAfterMs).toBeGreaterThan(0)
    expect(second.retryAfterMs).toBeLessThanOrEqual(HOLD_MS)
    const settled = await ask(other, 'settle', { holdId: held.holdId, amount: '60' })
    expect(settled).toMatchObject({ status: 200, charged: '60', late: false, window: held.window })
    expect(await ask(one, 'hold', HOLD)).toMatchObject({ allowed: false, window: held.window })
    expect(await ask(one, 'hold', { ...HOLD, estimate: '40' })).toMatchObject({ allowed: true })
    for (const good of [one, other]) expect(await readiness(good)).toMatchObject({ ready: true })
  },
  120_000,
)
