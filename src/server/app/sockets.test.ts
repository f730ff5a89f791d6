/** What only a real connection shows: malformed bytes, slow clients, shutdown, kept connections. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { testServer } from '../../../test/support/headgate.ts'
import type { Store } from '../../core/store.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const listening = async (wrap: (store: Store) => Store = (store) => store) => {
  const { app } = testServer({ wrap })
  ends.push(() => app.close())
  const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  return { app, port: Number(url.port) }
}

/** A connection on which a test writes bytes and reads what came back so far. */
const dial = async (port: number) => {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  ends.push(() => socket.destroy())
  let heard = ''
  let wake = () => {}
  socket.on('data', (text) => {
    heard += text
    wake()
  })
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  void closed.then(() => wake())
  await new Promise((resolve) => socket.once('connect', resolve))
  return {
    send: (text: string) => socket.write(text),
    closed: closed.then(() => heard),
    /** Waits until the end of an answer has come that matches. */
    hear: async (pattern: RegExp) => {
      while (!pattern.test(heard)) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        if (socket.destroyed && !pattern.test(heard)) throw new Error(`closed after: ${heard}`)
      }
      return heard
    },
  }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

const spend = (id: string) => {
  const body = JSON.stringify({ limit: 'PerKey', id })
  return `POST /v1/spend HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

test('bytes that are not HTTP hear a problem, then the end of the line', async () => {
  const { port } = await listening()
  const client = await dial(port)
  client.send('good day\r\n\r\n')
  const heard = await client.closed
  expect(heard).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nContent-Type: application\/problem\+json/)
  expect(heard).toContain('"code":"REQUEST_MALFORMED"')
})

test('headers beyond all measure hear 431', async () => {
  const { port } = await listening()
  const client = await dial(port)
  client.send(`GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`)
  expect(await client.closed).toMatch(/^HTTP\/1\.1 431 [\s\S]*"code":"HEADERS_TOO_LARGE"/)
})

test('a client that never finishes its request hears 408 and holds nothing any more', async () => {
  const { app, port } = await listening()
  // The real bounds take half a minute; that they are set is what the next line shows.
  expect(app.server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000 })
  app.server.headersTimeout = 1
  const client = await dial(port)
  client.send('GET /livez HTTP/1.1\r\nHost: local')
  expect(await client.closed).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"REQUEST_TIMEOUT"/)
})

test('a body that does not come to its end hears 408, and is no mistake of ours to log', async () => {
  const { app, port } = await listening()
  Object.assign(app.server, { headersTimeout: 1, requestTimeout: 1 })
  const logged = vi.spyOn(app.log, 'error')
  const client = await dial(port)
  client.send(spend('a').slice(0, -5))
  expect(await client.closed).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"REQUEST_TIMEOUT"/)
  await app.close()
  expect(logged).not.toHaveBeenCalled()
})

test('a request without Host is refused', async () => {
  const { port } = await listening()
  const client = await dial(port)
  client.send('GET /livez HTTP/1.0\r\n\r\n')
  expect(await client.closed).toContain('"code":"HOST_NOT_ALLOWED"')
})

describe('shutdown', () => {
  /** A store that answers only when told. */
  const held = () => {
    let release = () => {}
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    let arrived = () => {}
    const reached = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const wrap = (store: Store): Store => ({
      ...store,
      transact: async (step, guess) => {
        arrived()
        await gate
        return store.transact(step, guess)
      },
    })
    return { wrap, reached, release }
  }

  test('finishes what was accepted, and closes the connection after it', async () => {
    const { wrap, reached, release } = held()
    const { app, port } = await listening(wrap)
    const client = await dial(port)
    client.send(spend('k'))
    await reached
    const closing = app.close()
    release()
    const heard = await client.closed
    expect(heard).toMatch(/^HTTP\/1\.1 200 OK/)
    expect(heard).toContain('"allowed":true')
    await closing
  })

  test('lets idle connections go at once', async () => {
    const { app, port } = await listening()
    const client = await dial(port)
    client.send(get('/livez'))
    await client.hear(/"alive":true/)
    await app.close()
    expect(await client.closed).toMatch(/connection: keep-alive/i)
  })

  test('from its start on /readyz says no, and connections that were kept are told to close', async () => {
    const { wrap, reached, release } = held()
    const { app, port } = await listening(wrap)
    const slow = await dial(port)
    slow.send(spend('k'))
    await reached
    const accepted = once(app.server, 'connection')
    const asking = await dial(port)
    const [socket] = await accepted
    // Half a request keeps this connection from being idle when the shutdown comes.
    asking.send('GET /readyz HTTP/1.1\r\n')
    while (socket.bytesRead === 0) await new Promise(setImmediate)
    const closing = app.close()
    await new Promise(setImmediate)
    asking.send('Host: localhost\r\n\r\n')
    release()
    const heard = await asking.closed
    expect(heard).toMatch(/^HTTP\/1\.1 503 /)
    expect(heard).toMatch(/connection: close/i)
    expect(heard).toContain('"reasons":["shutting down"]')
    await closing
    expect(await slow.closed).toContain('"allowed":true')
  })

  test('takes no new connection', async () => {
    const { app, port } = await listening()
    await app.close()
    await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow('fetch failed')
  })
})
