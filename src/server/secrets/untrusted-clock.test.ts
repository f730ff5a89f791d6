/** What a signer does and tells while its clock is not trusted. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fakeMachine } from '../../../test/support/fake-machine.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { handTimers, noted, settled } from '../../../test/support/hand-timers.ts'
import { keyOptions, provideKey } from '../../../test/support/odis-process.ts'
import { days, hours, span } from '../../core/time.ts'
import { type ClockVerdict, createSigner, readAudit } from '../../secrets/index.ts'
import { audit } from '../../secrets/signer/audit.ts'
import { memory } from '../../stores/memory/index.ts'
import { SILENT } from '../app/log.ts'
import { createLogger } from '../app/logger.ts'
import { readSignerSettings } from './config.ts'
import { createSignerMetrics } from './metrics.ts'
import { openSigner, startAuditKeeper } from './open.ts'
import { createSignerServer } from './routes.ts'

test('audit entries are not forgotten by a clock that is not trusted', async () => {
  const { clock, leap } = fakeMachine()
  const store = memory({ clock })
  await store.transact(({ now }) => ({
    writes: [],
    appends: [audit(now, { event: 'signed', record: 'secrets/{a}/domain/ab' })],
    result: undefined,
  }))
  leap(100 * 86_400)
  let verdict: ClockVerdict | undefined
  const { timers, goOff } = handTimers()
  const watched = { verdict: () => verdict }
  const keeper = startAuditKeeper({ store, keep: days(90), log: SILENT, clock: watched, timers })
  await settled()
  verdict = { trusted: false, reason: 'leapt', offBy: hours(2_400) }
  await goOff()
  expect((await readAudit(store, '', 10)).entries).toHaveLength(1)
  verdict = { trusted: true, offBy: span(0), basis: 'record' }
  await goOff()
  expect((await readAudit(store, '', 10)).entries).toEqual([])
  await keeper.stop()
})

/** A signer as it opens, on a machine that ran for so many hours while its clock moved by four. */
const openedOn = async (folder: string, boot: string, uptimeHours: number, more = {}) => {
  const flags = {
    store: `sqlite:${join(folder, 'signer.db')}`,
    ...keyOptions(folder),
    workers: '1',
  }
  const settings = readSignerSettings({ flags: { ...flags, ...more } })
  const { lines, log } = noted()
  const start = Date.now() * 1_000
  const machine = () => ({
    boot,
    uptime: span(hours(uptimeHours) + Date.now() * 1_000 - start),
  })
  const opened = await openSigner(settings, log, machine)
  const app = createSignerServer(opened, createLogger('silent'))
  const ask = async (url: string) => (await app.inject({ method: 'GET', url })).body
  const close = async () => {
    await app.close()
    await opened.close()
  }
  // Threads of a pool that was not built for tests may break beside it.
  const told = () =>
    lines.map(([level, code]) => `${level} ${code}`).filter((line) => line.includes(' CLOCK_'))
  return { told, ask, close }
}

test('a signer with an untrusted clock is not ready, and says so in its log and its metrics', async () => {
  const folder = temporaryFolder()
  await provideKey(folder)
  const first = await openedOn(folder, 'a', 4)
  expect(JSON.parse(await first.ask('/readyz'))).toEqual({ ready: true, reasons: [] })
  expect(await first.ask('/metrics')).toContain('headgate_signer_clock_trusted 1')
  await first.close()
  expect(first.told()).toEqual([])

  const leapt = await openedOn(folder, 'a', 2)
  const reasons = [expect.stringMatching(/^the clock was set ahead by 72\d\d s since/)]
  expect(JSON.parse(await leapt.ask('/readyz'))).toEqual({ ready: false, reasons })
  const metrics = await leapt.ask('/metrics')
  expect(metrics).toContain('headgate_signer_clock_trusted 0')
  expect(metrics).toMatch(/headgate_signer_clock_offset_seconds 7[12]\d\d/)
  await leapt.close()
  expect(leapt.told()).toEqual(['error CLOCK_UNTRUSTED'])

  const silent = { 'time-sources': 'http://127.0.0.1:1' }
  const unconfirmed = await openedOn(folder, 'b', 1, silent)
  expect(JSON.parse(await unconfirmed.ask('/readyz'))).toMatchObject({ ready: false })
  await unconfirmed.close()

  const rebooted = await openedOn(folder, 'b', 1)
  expect(JSON.parse(await rebooted.ask('/readyz'))).toMatchObject({ ready: true })
  await rebooted.close()
  expect(rebooted.told()).toEqual(['warn CLOCK_UNCONFIRMED'])
})

test('a signer that could not look at its clock yet is not ready', async () => {
  const store = memory()
  const signer = createSigner({
    store,
    evaluator: { evaluate: async () => new Uint8Array(1) },
    keys: { current: 1, find: () => undefined },
    version: 'test',
  })
  const metrics = createSignerMetrics({
    load: () => ({ running: 0, waiting: 0 }),
    keys: { current: 1, notices: [] },
  })
  const clock = { verdict: () => undefined }
  const opened = { settings: { trustProxy: [], corsOrigins: [] }, signer, store, metrics, clock }
  const app = createSignerServer(opened, createLogger('silent'))
  const { statusCode, body } = await app.inject({ method: 'GET', url: '/readyz' })
  expect([statusCode, JSON.parse(body).reasons]).toEqual([
    503,
    ['the clock could not be looked at yet'],
  ])
  await app.close()
})
