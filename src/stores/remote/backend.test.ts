/** Every backend compares and applies alike, the one that tests use among them. */
import { afterAll, describe, expect, test } from 'vitest'
import { memoryServer } from '../../../test/support/memory-backend.ts'
import { remotePlace } from '../../../test/support/remote-stores.ts'
import { type Instant, instant, millis, seconds } from '../../core/time.ts'
import { systemClock } from '../../lib/clock.ts'
import { postgresBackend } from '../postgres/backend.ts'
import { openPostgres } from '../postgres/database.ts'
import { prepareSchema } from '../postgres/fitness.ts'
import { postgresPlaces } from '../postgres/questions.ts'
import { parseRedisUrl } from '../redis/address.ts'
import { redisBackend } from '../redis/backend.ts'
import { openLink } from '../redis/link.ts'
import { redisNames } from '../redis/names.ts'
import { type Backend, MAX_DECISION_AGE, type Part } from './backend.ts'
import { openLine } from './line.ts'

const TIMEOUT = seconds(120)
const PATIENT = { thing: 'the store', isAnswer: () => true, timeout: TIMEOUT }

interface Opened {
  /** Each is a server of its own. */
  connect(): Backend
  close(): Promise<void>
}

const OPENERS: Readonly<Record<string, () => Promise<Opened | undefined>>> = {
  memory: async () => {
    const server = memoryServer(systemClock)
    return { connect: server.connect, close: async () => {} }
  },
  redis: async () => {
    const place = await remotePlace('redis')
    if (place === undefined) return undefined
    const link = openLink(parseRedisUrl(place.url), { timeout: TIMEOUT })
    const names = redisNames(place.name)
    const connect = () => redisBackend({ link, line: openLine(PATIENT), names })
    return { connect, close: link.close }
  },
  postgres: async () => {
    const place = await remotePlace('postgres')
    if (place === undefined) return undefined
    const database = openPostgres(place.url, TIMEOUT)
    const line = openLine(PATIENT)
    const places = postgresPlaces({ thing: 'the store', database, line, name: place.name })
    await prepareSchema('the store', places)
    return { connect: () => postgresBackend(places), close: database.close }
  },
}

let names = 0
const newKey = () => `key${names++}`

const part = (some: Partial<Part>): Part => ({
  expected: new Map(),
  guessed: [],
  writes: [],
  appends: [],
  claims: false,
  ...some,
})

for (const [kind, open] of Object.entries(OPENERS)) {
  const opened = await open()
  describe.skipIf(opened === undefined)(kind, () => {
    if (opened === undefined) return
    afterAll(opened.close)
    const [one, other] = [opened.connect(), opened.connect()]
    const commit = async (
      backend: Backend,
      parts: readonly Part[],
      at?: (now: Instant) => number,
    ) => {
      const { now } = await backend.look([])
      const decided = instant(at?.(now) ?? now)
      const overridden = at === undefined
      const reply = await backend.commit(parts, {
        now: decided,
        overridden,
        maxAge: MAX_DECISION_AGE,
      })
      return reply.outcomes
    }
    const found = async (key: string) => (await one.look([key])).values[0]
    const put = (key: string, value: string, expected?: string) =>
      part({ expected: new Map([[key, expected]]), writes: [{ key, value }] })
    const conflict = (current: readonly unknown[], claimed = false) => [
      { kind: 'conflict', current, claimed },
    ]
    const APPLIED = [{ kind: 'applied' }]

    test('what differs from what was expected is a conflict, absence either way included', async () => {
      const [key, guessed, blind] = [newKey(), newKey(), newKey()]
      expect(await commit(one, [put(key, '1', 'there')])).toEqual(conflict([undefined]))
      expect(await commit(one, [put(key, '1'), put(guessed, 'g')])).toEqual([
        ...APPLIED,
        ...APPLIED,
      ])
      expect(await commit(one, [put(key, '2')])).toEqual(conflict(['1']))
      const wrong = { ...put(key, '2', '3'), guessed: [guessed, blind] }
      const beside = part({ writes: [{ key: blind, value: 'b' }] })
      const [lost, done] = await commit(one, [wrong, beside])
      expect(lost).toMatchObject({ kind: 'conflict', claimed: false })
      expect(done).toEqual({ kind: 'applied' })
      expect([await found(key), await found(blind)]).toEqual(['1', 'b'])
      expect(await commit(one, [put(key, '2', '1')])).toEqual(APPLIED)
    })

    test.each([
      ['ahead of the server', (now: Instant) => now + seconds(60)],
      ['longer ago than allowed', (now: Instant) => now - MAX_DECISION_AGE - 1],
    ])('a decision made %s is a conflict, of what reads nothing too', async (_, at) => {
      const key = newKey()
      const blind = part({ writes: [{ key, value: 'x' }], appends: [{ stream: key, entry: 'x' }] })
      expect(await commit(one, [blind], at)).toEqual(conflict([]))
      expect(await commit(one, [put(key, 'x')], at)).toEqual(conflict([undefined]))
      expect(await found(key)).toBeUndefined()
    })

    test('a key that was lost often is kept for its server until that has had its turn', async () => {
      const key = newKey()
      const claiming = { ...put(key, '1', 'wrong'), claims: true }
      let refused: unknown
      // On a busy machine a claim may end before it is tried.
      for (let tries = 0; tries < 100; tries++) {
        expect(await commit(one, [claiming])).toEqual(conflict([undefined]))
        const first = await commit(other, [{ ...put(key, '1'), claims: true }])
        if (first[0]?.kind === 'applied') {
          await commit(other, [part({ writes: [{ key }] })])
          continue
        }
        refused = first
        break
      }
      expect(refused).toEqual(conflict([undefined], true))
      // The one that was refused took no claim of its own.
      expect(await commit(one, [put(key, '1')])).toEqual(APPLIED)
      expect(await commit(other, [put(key, '2', '1')])).toEqual(APPLIED)
    })

    test('a claim ends by itself', async () => {
      const key = newKey()
      await commit(one, [{ ...put(key, '1', 'wrong'), claims: true }])
      for (;;) {
        const [outcome] = await commit(other, [put(key, '1')])
        if (outcome?.kind === 'applied') break
        await new Promise((resolve) => setTimeout(resolve, millis(20) / 1_000))
      }
    })
  })
}
