/** A whole server whose store is killed and comes back: what it tells operators, and what each limit answers meanwhile. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { openHeadgate } from '../../src/server/app/headgate.ts'
import { createHttpServer } from '../../src/server/app/http-server.ts'
import { configFolder } from '../support/config-folder.ts'
import { noted } from '../support/hand-timers.ts'
import { ownService, sharedUrl } from '../support/services.ts'

const REST = 'id: opaque, burst: 2, count: 1, period: 24h'
const LIMITS = `limits: { Strict: { ${REST} }, Kind: { ${REST}, onStoreFailure: open } }`

/** What a killed server must have kept. */
const DURABLE = {
  redis: ['--appendonly', 'yes', '--appendfsync', 'always'],
  postgres: [],
} as const

for (const kind of ['redis', 'postgres'] as const) {
  const open = async () => {
    const service = await ownService(kind, DURABLE[kind])
    const { path } = configFolder({ 'headgate.yml': LIMITS })
    const { lines, log } = noted()
    const flags = { config: `${path}/headgate.yml`, store: service.url, 'log-level': 'silent' }
    const headgate = await openHeadgate({ flags, log })
    const app = createHttpServer(headgate)
    onTestFinished(async () => {
      await app.close()
      await headgate.close()
    })
    const ready = async () => (await app.inject('/readyz')).json()
    return {
      service,
      lines,
      ready,
      spend: (limit: string) =>
        app.inject({ method: 'POST', url: '/v1/spend', payload: { limit, id: 'ann' } }),
      metric: async (name: string) => {
        const { body } = await app.inject('/metrics')
        return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1])
      },
      until: async (breaker: 'open' | 'closed') => {
        while ((await ready()).store.breaker !== breaker) {
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
      },
    }
  }

  describe.skipIf((await sharedUrl(kind)) === undefined)(kind, () => {
    test('an outage opens the breaker, each limit keeps its policy, and all of it is told', async () => {
      const { service, lines, ready, spend, metric, until } = await open()
      for (const limit of ['Strict', 'Kind']) expect((await spend(limit)).json().allowed).toBe(true)
      expect(await ready()).toMatchObject({
        ready: true,
        store: { kind, breaker: 'closed', onStoreFailure: { open: 1, closed: 1 } },
      })

      await service.kill()
      await until('open')
      expect(await ready()).toMatchObject({
        ready: false,
        reasons: [
          expect.stringContaining('must be reachable and take writes, found connect ECONNREFUSED'),
        ],
        store: { breaker: 'open', downSince: expect.stringMatching(/^\d{4}-.*Z$/) },
      })
      const strict = await spend('Strict')
      expect([strict.statusCode, strict.json().code]).toEqual([503, 'STORE_UNAVAILABLE'])
      expect(strict.headers['retry-after']).toBe('1')
      expect((await spend('Kind')).json()).toMatchObject({
        allowed: true,
        reason: 'STORE_UNAVAILABLE',
      })
      expect(await metric('headgate_store_breaker_open')).toBe(1)
      expect(await metric('headgate_store_breaker_opened_total')).toBe(1)
      expect(await metric('headgate_store_breaker_refused_total')).toBeGreaterThan(0)
      expect(await metric('headgate_store_failures_total{policy="open"}')).toBe(1)
      expect(await metric('headgate_store_failures_total{policy="closed"}')).toBe(1)

      await service.restart()
      await until('closed')
      expect((await ready()).ready).toBe(true)
      expect(await metric('headgate_store_breaker_open')).toBe(0)
      const told = lines.map(([level, , message]) => `${level}: ${message}`)
      expect(told.filter((line) => line.includes('breaker'))).toEqual([
        'error: the store does not answer: its breaker is open, and calls fail at once',
        'warn: the store answers again: its breaker is closed',
      ])
      // What was charged before is still charged.
      const left = [await spend('Strict'), await spend('Strict')]
      expect(left.map((answer) => answer.json().allowed)).toEqual([true, false])
    })
  })
}
