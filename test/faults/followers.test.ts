/** A block is felt on another server at once where the store tells of it, and by the next poll where it does not. */
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { seconds } from '../../src/core/time.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createSubjectGate } from '../../src/subjects/gate.ts'
import { createRates } from '../../src/subjects/rates/rates.ts'
import { handTimers } from '../support/hand-timers.ts'
import { placeAt, type RemotePlace, remotePlace } from '../support/remote-stores.ts'
import { ownService, sharedUrl } from '../support/services.ts'
import { PROVIDER } from '../support/subject-gate.ts'

const ADA = { issuer: 'did:key:zAda', chain: [] }

/** Until something that must come by itself has come: the test hangs where it does not. */
const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** One server that changes rates, and one that follows them and polls only when the test says so. */
const twoServers = async (place: RemotePlace) => {
  await place.clear()
  const heard: boolean[] = []
  const here = place.open()
  const there = place.open({
    observe: (event) => {
      if (event.kind === 'listening') heard.push(event.on)
    },
  })
  // Its first poll is over before anything is changed, and no timer goes off by itself.
  const { timers, goOff } = handTimers()
  const gate = createSubjectGate({
    store: there,
    provider: PROVIDER,
    clock: systemClock,
    uptime: () => seconds(1),
    timers,
  })
  onTestFinished(async () => {
    gate.close()
    await Promise.all([here.close(), there.close()])
  })
  await gate.catchUp()
  const rates = createRates({ store: here, provider: PROVIDER })
  const add = (subject: string) => rates.add({ subject, rate: 0 }, ADA)
  const isBlocked = (subject: string) => gate.judge([subject]).state === 'blocked'
  return { heard, add, isBlocked, gate, goOff, there }
}

for (const kind of ['redis', 'cluster', 'postgres'] as const) {
  const place = await remotePlace(kind)
  describe.skipIf(place === undefined)(kind, () => {
    test('tells another server of a block and of its end, and no poll is needed', async () => {
      if (place === undefined) return
      const { heard, add, isBlocked } = await twoServers(place)
      await until(() => heard.at(-1) === true)
      await add('a.test')
      await until(() => isBlocked('a.test'))
      await add('b.test')
      await until(() => isBlocked('b.test'))
      expect(isBlocked('c.test')).toBe(false)
      expect(heard).toEqual([true])
    })
  })
}

describe.skipIf((await sharedUrl('pgbouncer')) === undefined)('PgBouncer', () => {
  test('nothing is listened to through it, and a poll finds the block', async () => {
    const service = await ownService('pgbouncer')
    const { heard, add, isBlocked, gate } = await twoServers(placeAt('pgbouncer', service.url))
    await until(() => heard.length > 0)
    expect(heard).toEqual([false])
    const direct = new Client(service.url.replace(/:\d+\//, `:${service.ports[1]}/`))
    await direct.connect()
    onTestFinished(() => direct.end())
    const { rows } = await direct.query(
      "SELECT 1 FROM pg_stat_activity WHERE query ILIKE 'LISTEN%' AND pid <> pg_backend_pid()",
    )
    expect(rows).toEqual([])
    await add('a.test')
    await gate.catchUp()
    expect(isBlocked('a.test')).toBe(true)
  })
})

/** Ends the connections that listen, as the server sees them. */
const DEAFEN = {
  redis: async (url: string) => {
    const client = new Redis(url)
    await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    client.disconnect()
  },
  postgres: async (url: string) => {
    const client = new Client(url)
    await client.connect()
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'LISTEN%'",
    )
    await client.end()
  },
} as const

for (const kind of ['redis', 'postgres'] as const) {
  describe.skipIf((await sharedUrl(kind)) === undefined)(kind, () => {
    test('that loses a notice loses no block: a poll finds it, and notices come again by themselves', async () => {
      const { url } = await ownService(kind)
      const { heard, add, isBlocked, gate } = await twoServers(placeAt(kind, url))
      await until(() => heard.at(-1) === true)
      await DEAFEN[kind](url)
      await until(() => heard.includes(false))
      await add('a.test')
      await gate.catchUp()
      expect(isBlocked('a.test')).toBe(true)
      await until(() => heard.at(-1) === true)
      await add('b.test')
      await until(() => isBlocked('b.test'))
    })
  })
}
