import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import { assert } from '../../core/errors.ts'
import type { Store } from '../../core/store.ts'
import { millis } from '../../core/time.ts'
import { createLine } from './overload.ts'

/** A server with room for `inFlight`, whose store keeps every caller until it is let go. */
const heldServer = (inFlight: number) => {
  let asked = 0
  let letGo = () => {}
  let noticed = () => {}
  const going = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const wrap = (store: Store): Store => ({
    ...store,
    transact: async (step, guess) => {
      asked += 1
      noticed()
      await going
      return store.transact(step, guess)
    },
  })
  const { app, headgate } = testServer({
    wrap,
    settings: { overload: { inFlight, turn: millis(250) } },
  })
  const spend = (payload: object | string = { limit: 'PerKey', id: 'k' }) =>
    app.inject({ method: 'POST', url: '/v1/spend', payload, headers: JSON_TYPE })
  /** Resolves when so many have reached the store. */
  const atStore = async (count: number) => {
    while (asked < count) {
      await new Promise<void>((resolve) => {
        noticed = resolve
      })
    }
  }
  return { app, headgate, spend, atStore, asked: () => asked, letGo: () => letGo() }
}

const JSON_TYPE = { 'content-type': 'application/json' }

describe('a server that is full', () => {
  test('sheds the next request at once, before its body is read and its store asked', async () => {
    const { spend, atStore, asked, letGo, headgate } = heldServer(3)
    const held = [spend(), spend(), spend()]
    await atStore(3)
    for (const payload of [{ limit: 'PerKey', id: 'k' }, '{ not JSON', '']) {
      const reply = await spend(payload)
      expect(reply.statusCode).toBe(503)
      expect(reply.headers['retry-after']).toBe('1')
      expect(reply.json()).toMatchObject({
        type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
        code: 'OVERLOADED',
        detail: 'the server: has at most 3 requests on their way, found more',
      })
    }
    expect(asked()).toBe(3)
    const metrics = await headgate.metrics.text(headgate.catalog)
    expect(metrics).toContain('headgate_http_shed_total{reason="in-flight"} 3')
    letGo()
    const statuses = (await Promise.all(held)).map(({ statusCode }) => statusCode)
    expect(statuses).toEqual([200, 200, 200])
    expect((await spend()).statusCode).toBe(200)
  })

  test('still says that it lives and what it does', async () => {
    const { app, spend, atStore, letGo } = heldServer(1)
    const held = spend()
    await atStore(1)
    expect((await app.inject('/livez')).statusCode).toBe(200)
    expect((await app.inject('/metrics')).statusCode).toBe(200)
    const ready = app.inject('/readyz')
    letGo()
    expect((await ready).statusCode).toBe(200)
    await held
  })

  test('refuses nobody at the gate: 503 there too', async () => {
    const { app, spend, atStore, letGo } = heldServer(1)
    const held = spend()
    await atStore(1)
    const reply = await app.inject('/v1/gate?limit=PerKey&id=k')
    expect([reply.statusCode, reply.json().code]).toEqual([503, 'OVERLOADED'])
    letGo()
    await held
  })

  test('stays so while the work goes on that a client has left', async () => {
    const { app, spend, atStore, letGo } = heldServer(1)
    onTestFinished(() => app.close())
    const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    const accepted = once(app.server, 'connection')
    const client = connect(Number(url.port), '127.0.0.1')
    client.write('GET /v1/gate?limit=PerKey&id=k HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const [socket]: Socket[] = await accepted
    await atStore(1)
    client.destroy()
    if (socket !== undefined) await once(socket, 'close')
    await setImmediate()
    expect((await spend()).statusCode).toBe(503)
    letGo()
    await setImmediate()
    expect((await spend()).statusCode).toBe(200)
  })

  test('has room again after a client that asked several at once has left without hearing any', async () => {
    const { app, spend, atStore, letGo } = heldServer(8)
    onTestFinished(() => app.close())
    const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    const accepted = once(app.server, 'connection')
    const client = connect(Number(url.port), '127.0.0.1')
    client.write('GET /v1/gate?limit=PerKey&id=k HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(8))
    const [socket]: Socket[] = await accepted
    await atStore(8)
    client.destroy()
    if (socket !== undefined) await once(socket, 'close')
    letGo()
    await setImmediate()
    await setImmediate()
    const statuses = (await Promise.all(Array.from({ length: 8 }, () => spend()))).map(
      ({ statusCode }) => statusCode,
    )
    expect(statuses).toEqual(Array.from({ length: 8 }, () => 200))
  })

  test('has room again after every way in which a request can end', async () => {
    const { app, spend, letGo } = heldServer(1)
    letGo()
    const ways = [
      () => spend(),
      () => spend('{ not JSON'),
      () => spend({ limit: 'Nope', id: 'k' }),
      () => app.inject('/nowhere'),
      () => app.inject({ method: 'DELETE', url: '/v1/spend' }),
      () => app.inject({ url: '/v1/limits', headers: { host: 'rebound.example' } }),
    ]
    for (const way of [...ways, ...ways]) {
      expect((await way()).statusCode).not.toBe(503)
      await setImmediate()
    }
  })
})

describe('requests sent at once on one connection', () => {
  const gate = 'GET /v1/gate?limit=PerKey&id=k HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const dial = async (server: ReturnType<typeof heldServer>) => {
    onTestFinished(() => server.app.close())
    const url = new URL(await server.app.listen({ host: '127.0.0.1', port: 0 }))
    const accepted = once(server.app.server, 'connection')
    const client = connect(Number(url.port), '127.0.0.1').setEncoding('utf8')
    onTestFinished(() => void client.destroy())
    let heard = ''
    client.on('data', (text) => {
      heard += text
    })
    const [socket]: Socket[] = await accepted
    assert(socket !== undefined, 'a connection was accepted')
    const statuses = () => [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    return { client, socket, statuses }
  }

  test('are answered in their order, those that are shed too', async () => {
    const server = heldServer(1)
    const { client, statuses } = await dial(server)
    client.write(`${gate}${gate}${gate}GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const shed = 'headgate_http_shed_total{reason="in-flight"} 2'
    const { metrics, catalog } = server.headgate
    while (!(await metrics.text(catalog)).includes(shed)) await setImmediate()
    server.letGo()
    while (statuses().length < 4) await once(client, 'data')
    expect(statuses()).toEqual(['204', '503', '503', '200'])
    expect(server.asked()).toBe(1)
  })

  test('are not read further while one of them waits to be shed', async () => {
    // The pace stands still until the test moves it.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const server = heldServer(1)
    onTestFinished(() => server.letGo())
    let parsed = 0
    server.app.server.on('request', () => {
      parsed += 1
    })
    const { client, socket, statuses } = await dial(server)
    const paused = once(socket, 'pause')
    client.write(gate.repeat(5_000))
    await paused
    // Until it stands still: reads may be small at first, and the pace tells some at once.
    for (let parsedThen = 0; parsed < 200 || parsed > parsedThen; ) {
      parsedThen = parsed
      for (let turn = 0; turn < 20; turn++) await setImmediate()
    }
    // As many as are in one read of 64 kB, or two.
    expect(parsed).toBeLessThan(2_500)
    server.letGo()
    // Each is heard, a pause of the pace after another.
    while (parsed < 5_000 || statuses().length < 5_000) {
      vi.advanceTimersByTime(100)
      await setImmediate()
    }
    expect(statuses()).toHaveLength(5_000)
  })
})

describe('a line', () => {
  /** An event loop in which a turn takes no time, and requests take as much as they say. */
  const scene = () => {
    let now = 0
    let due: (() => void)[] = []
    const served: number[] = []
    const line = createLine({ turnMs: 250, now: () => now, soon: (callback) => due.push(callback) })
    return {
      served,
      join: (name: number, cost: number, connection: 'new' | 'known' = 'known') =>
        line.join(() => {
          served.push(name)
          now += cost
        }, connection),
      turn: () => {
        const callbacks = due
        due = []
        for (const callback of callbacks) callback()
      },
      pass: (ms: number) => {
        now += ms
      },
      resting: () => due.length === 0,
    }
  }
  const names = (count: number) => Array.from({ length: count }, (_, n) => n)

  test('serves at once who comes while nobody waits', () => {
    const { join, served, turn, resting } = scene()
    expect([join(0, 1), join(1, 1)]).toEqual(['served', 'served'])
    expect(served).toEqual([0, 1])
    turn()
    expect(resting()).toBe(true)
  })

  test('lets wait who comes after 10 ms of one turn, and serves them in their order, 10 ms a turn', () => {
    const { join, served, turn, resting } = scene()
    for (const name of names(40)) join(name, 2)
    expect(served).toHaveLength(6)
    turn()
    turn()
    expect(served).toHaveLength(12)
    while (!resting()) turn()
    expect(served).toEqual(names(40))
  })

  test('takes in new connections before it serves them, as the system hands out one a turn', () => {
    const { join, served, turn, pass, resting } = scene()
    let taken = 0
    while (served.length === 0) {
      join(taken++, 1, 'new')
      pass(0.125)
      turn()
    }
    // Half a millisecond of them; one came while the loop turned to serving.
    expect(taken).toBe(6)
    while (!resting()) turn()
    expect(served).toEqual(names(6))
  })

  test('turns to the only new connection at once', () => {
    const { join, served, turn } = scene()
    join(0, 1, 'new')
    for (let turns = 0; turns < 3; turns++) turn()
    expect(served).toEqual([0])
  })

  test('sheds who would wait for longer than its turn may take, and nobody else', () => {
    const { join, served, turn } = scene()
    for (const name of names(200)) expect(join(name, 5)).not.toBe('full')
    // How fast it moves is known after 20 ms.
    while (served.length < 9) turn()
    turn()
    expect(join(200, 5)).toBe('full')
    while (served.length < 160) turn()
    expect(join(201, 5)).toBe('waits')
  })

  test('sheds none of 32, however long one of them takes', () => {
    const { join, turn } = scene()
    for (const name of names(34)) join(name, 10_000)
    turn()
    turn()
    // One was served at once and one in its turn: 32 wait.
    expect(join(34, 1)).toBe('full')
    turn()
    expect(join(35, 1)).toBe('waits')
  })

  test('judges nobody by how slow it was before it was empty', () => {
    const { join, turn, resting } = scene()
    for (const name of names(33)) join(name, 1_000)
    while (!resting()) turn()
    for (const name of names(100)) expect(join(name, 11)).not.toBe('full')
  })
})

test('who has left while it waited in line is not served', async () => {
  const server = heldServer(8)
  server.letGo()
  onTestFinished(() => server.app.close())
  const url = new URL(await server.app.listen({ host: '127.0.0.1', port: 0 }))
  server.app.server.once('request', ({ socket }) => socket.destroy())
  const client = connect(Number(url.port), '127.0.0.1').on('error', () => {})
  client.write('GET /v1/gate?limit=PerKey&id=k HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(client, 'close')
  expect((await server.spend()).statusCode).toBe(200)
  expect(server.asked()).toBe(1)
})
