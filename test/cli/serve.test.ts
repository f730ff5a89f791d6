/** `headgate serve` as a process: what it says, how it reloads, how it ends. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { headgate, serveHeadgate, serveHere, until } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'
import { ROOT } from '../support/sources.ts'

const limits = (burst: number) =>
  `limits: {Foos: {id: opaque, burst: ${burst}, count: 1, period: 1h}}`

const burstOf = async (url: string): Promise<number> => {
  const body: unknown = await (await fetch(`${url}/v1/limits/Foos/ann`)).json()
  return Number(Object.entries(body ?? {}).find(([key]) => key === 'remaining')?.[1])
}

describe('the first five minutes', () => {
  test('the quickstart prints a curl that is allowed 5 times, then refused until a token is back', async () => {
    const quickstart = readFileSync(`${ROOT}examples/quickstart/headgate.yml`, 'utf8')
    const { path } = configFolder({ 'headgate.yml': quickstart })
    const { announced } = await serveHeadgate([], { cwd: path })
    const { curl, promise } = Object(announced['try'])
    expect(promise).toBe('allowed 5 times at once, then once every 12s')
    const [, address = ''] = /^curl -i '(http[^']+)'$/.exec(curl) ?? []
    for (let turn = 0; turn < 5; turn++) expect((await fetch(address)).status).toBe(204)
    const refused = await fetch(address)
    expect(refused.status).toBe(429)
    const wait = Number(refused.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(12)
  })

  test('it says what is in force, where its data is and where it listens', async () => {
    const { path } = configFolder({ 'headgate.yml': limits(1) })
    const { announced } = await serveHere([], { cwd: path })
    expect(announced).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      store: `sqlite:${join(path, 'headgate.db')}`,
      config: [join(path, 'headgate.yml')],
      limitsInForce: ['Foos'],
      tokens: 0,
    })
  })
})

describe('reloading', () => {
  test('a file that is saved is felt; a bad one leaves the last good, and readiness and metrics tell', async () => {
    const { path, write } = configFolder({ 'headgate.yml': limits(3) })
    const { url } = await serveHere([], { cwd: path })
    expect(await burstOf(url)).toBe(3)
    write('headgate.yml', limits(8))
    await until(async () => (await burstOf(url)) === 8)
    write('headgate.yml', 'limits: {Foos: {id: opaque, burst: none}}')
    const stale = async () => (await (await fetch(`${url}/readyz`)).text()).includes('"stale":true')
    await until(stale)
    expect(await burstOf(url)).toBe(8)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    expect(metrics).toContain('headgate_catalog_stale 1')
    expect(metrics).toContain('headgate_catalog_reloads_total{outcome="refused"} 1')
  })

  test('SIGHUP loads the files again, changed or not', async () => {
    const { path } = configFolder({ 'headgate.yml': limits(3) })
    const server = await serveHere([], { cwd: path })
    server.signal('SIGHUP')
    await until(() => server.log().includes('configuration reloaded'))
    expect(await burstOf(server.url)).toBe(3)
  })

  test('the log names the settings that need a restart', async () => {
    const { path, write } = configFolder({ 'headgate.yml': limits(3) })
    const server = await serveHere([], { cwd: path })
    write('headgate.yml', 'helpLink: https://example.com')
    server.signal('SIGHUP')
    await until(() => server.log().includes('need a restart: helpLink'))
    expect((await fetch(`${server.url}/v1/limits/Foos`)).status).toBe(404)
  })

  test('a bad file is logged with its place and rule', async () => {
    const { path, write } = configFolder({ 'headgate.yml': limits(3) })
    const server = await serveHere([], { cwd: path })
    write('headgate.yml', 'logLevel: loud')
    server.signal('SIGHUP')
    await until(() => server.log().includes('headgate.yml:1:11'))
    const line =
      server
        .log()
        .split('\n')
        .find((text) => text.includes('headgate.yml:1:11')) ?? ''
    expect(JSON.parse(line)).toMatchObject({
      level: 50,
      code: 'FIELD_VALUE',
      rule: expect.stringContaining('must be one of fatal'),
    })
  })

  test('a token that is removed from the file is revoked', async () => {
    const make = async () =>
      JSON.parse((await headgate(['tokens', 'new', '--json'], configHere)).out)
    const { path, write } = configFolder()
    const configHere = { cwd: path }
    const [old, fresh] = [await make(), await make()]
    const tokens = ({ sha256 }: { sha256: string }) =>
      `tokens: [{name: ci, sha256: ${sha256}, scopes: [decide]}]`
    write('headgate.yml', tokens(old))
    const { url } = await serveHere([], configHere)
    const status = async ({ token }: { token: string }) =>
      (await fetch(`${url}/v1/limits`, { headers: { authorization: `Bearer ${token}` } })).status
    expect([await status(old), await status(fresh)]).toEqual([200, 401])
    write('headgate.yml', tokens(fresh))
    await until(async () => (await status(fresh)) === 200)
    expect(await status(old)).toBe(401)
  })
})

describe('ending', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it with exit 0', async (signal) => {
    const { path } = configFolder({ 'headgate.yml': limits(3) })
    const server = await serveHeadgate([], { cwd: path })
    server.signal(signal)
    expect((await server.ended).exit).toBe(0)
  })

  test('a request that was accepted is finished first', async () => {
    const { path } = configFolder({ 'headgate.yml': limits(3) })
    const server = await serveHeadgate([], { cwd: path })
    const request = halfSent(server.url)
    await request.accepted
    server.signal('SIGTERM')
    await until(() =>
      fetch(server.url).then(
        () => false,
        () => true,
      ),
    )
    request.sendRest()
    expect(await request.answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect((await server.ended).exit).toBe(0)
  })

  test('a second signal ends it at once, whatever is open', async () => {
    const { path } = configFolder({ 'headgate.yml': limits(3) })
    const server = await serveHeadgate([], { cwd: path })
    await halfSent(server.url).accepted
    const signals = setInterval(() => server.signal('SIGTERM'), 100)
    onTestFinished(() => clearInterval(signals))
    expect((await server.ended).exit).toBe(1)
  })

  test('what was charged is there after a restart', async () => {
    const { path } = configFolder({ 'headgate.yml': limits(3) })
    const first = await serveHere([], { cwd: path })
    await fetch(`${first.url}/v1/gate?limit=Foos&id=ann`)
    first.signal('SIGTERM')
    await first.ended
    const second = await serveHere([], { cwd: path })
    expect(await burstOf(second.url)).toBe(2)
  })

  test('a port in use is told with a way out', async () => {
    const { path } = configFolder({ 'headgate.yml': limits(3) })
    const { url } = await serveHere([], { cwd: path })
    const words = ['serve', '--port', new URL(url).port, '--store', 'memory:']
    const { exit, err } = await headgate(words, { cwd: path })
    expect(exit).toBe(1)
    expect(err).toMatch(/^error LISTEN_PORT_IN_USE: port \d+ of 127\.0\.0\.1: must be free/m)
  })
})

/** A request whose body has not wholly arrived; the server has asked for the rest. */
function halfSent(url: string) {
  const { hostname, port } = new URL(url)
  const body = JSON.stringify({ limit: 'Foos', id: 'ann' })
  const head = [
    'POST /v1/spend HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
    'Connection: close',
  ]
  const socket = connect(Number(port), hostname)
  onTestFinished(() => {
    socket.destroy()
  })
  let received = ''
  const accepted = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      received += chunk
      if (received.startsWith(CONTINUE)) resolve()
    })
  })
  // A server that ends at once resets the connection.
  socket.on('error', () => {})
  const answer = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(received.slice(CONTINUE.length)))
  })
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  return { accepted, answer, sendRest: () => socket.write(body) }
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
