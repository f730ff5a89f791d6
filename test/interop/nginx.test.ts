/** The configurations of docs/guide/nginx.md, run by a real nginx in front of a real server. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { programEnvironment, provideProgram } from '../../bench/provide.js'
import { createHttpServer } from '../../src/server/app/http-server.ts'
import { createLogger } from '../../src/server/app/logger.ts'
import type { Settings } from '../../src/server/config/settings.ts'
import { acmeCatalog } from '../support/acme-catalog.ts'
import { testHeadgate } from '../support/headgate.ts'
import { ROOT } from '../support/sources.ts'
import { startServerProcess } from './server-process.ts'

const say = (text: string): void => console.log(`headgate: ${text}`)
const hasNginx = provideProgram('nginx', ['nginx-light', 'nginx'], say)
if (!hasNginx) say('nginx is missing and apt-get could not install it: its tests are skipped')

const page = readFileSync(`${ROOT}docs/guide/nginx.md`, 'utf8')
const block = (name: string): string => {
  const [, found] = page.split(`<!-- nginx: ${name} -->\n\`\`\`nginx\n`)
  const [text, rest] = found?.split('```', 2) ?? []
  if (text === undefined || rest === undefined) throw new Error(`the page has no block ${name}`)
  return text
}

const CLOSED = block('closed')
const OPEN = CLOSED.replace(
  'location = /headgate {',
  `location = /headgate {\n${block('open, in location = /headgate')}`,
).replace('listen 80;', `listen 80;\n${block('open, in server')}`)
const BY_KEY = CLOSED.replace(
  /proxy_pass http:\/\/headgate[^;]*;/,
  block('by key, the proxy_pass of location = /headgate'),
)

/** As on the page, with fewer to reach sooner, and a limit of keys. */
const LIMITS = `
PerClient: { id: client, burst: 2, period: 1h }
PerKey: { id: opaque, burst: 2, period: 1h }
`

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

const scratch = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-'))
  ends.push(() => rmSync(folder, { recursive: true }))
  return folder
}

/** An application that counts what reaches it. */
const startApp = async () => {
  const seen: IncomingHttpHeaders[] = []
  const app = createServer(({ headers, url }, response) => {
    seen.push(headers)
    response.writeHead(url === '/forbidden' ? 403 : 200).end('from the application')
  }).listen(0, '127.0.0.1')
  ends.push(() => app.close())
  await new Promise((resolve) => app.once('listening', resolve))
  return { seen, port: portOf(app.address()) }
}

const portOf = (address: AddressInfo | string | null): number => {
  if (address === null || typeof address === 'string') throw new Error('a server has a port')
  return address.port
}

/** In this process, and over HTTP; `lines` are its log. */
const startHeadgate = async (settings: Partial<Settings> = {}) => {
  const lines: string[] = []
  const logger = createLogger('warn', { write: (line) => lines.push(line) })
  const headgate = testHeadgate({
    catalog: acmeCatalog({ limits: LIMITS }),
    settings: { trustProxy: ['127.0.0.1'], ...settings },
  })
  const server = createHttpServer(headgate, { logger })
  ends.push(() => server.close())
  const url = new URL(await server.listen({ host: '127.0.0.1', port: 0 }))
  return { lines, port: Number(url.port) }
}

/** nginx with a configuration of the page; only its ports are replaced. */
const startNginx = async (configuration: string, headgatePort: number) => {
  const app = await startApp()
  const folder = scratch()
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const argumentsFor = (port: number) => {
    const servers = configuration
      .replace('listen 80;', `listen 127.0.0.1:${port};`)
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${headgatePort}`)
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${app.port}`)
    const temporary = paths.map((path) => `${path}_temp_path ${folder}/${path};`).join('\n')
    const http = `http {\naccess_log off;\n${temporary}\n${servers}\n}`
    const file = join(folder, 'nginx.conf')
    writeFileSync(file, `daemon off;\npid ${folder}/pid;\nevents {}\n${http}\n`)
    return ['-e', join(folder, 'error.log'), '-p', folder, '-c', file]
  }
  const nginx = await startServerProcess('nginx', argumentsFor, programEnvironment)
  ends.push(() => nginx.close())
  const get = (path = '', headers: Record<string, string> = {}) =>
    fetch(nginx.url + path, { headers })
  return { get, seen: app.seen, errors: () => readFileSync(join(folder, 'error.log'), 'utf8') }
}

/** A port on which nothing listens. */
const deadPort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const port = portOf(server.address())
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe.skipIf(!hasNginx)('nginx, configured as on the page', () => {
  test('lets pass what is allowed and answers 429 with headers to what is refused', async () => {
    const { get, seen } = await startNginx(CLOSED, (await startHeadgate()).port)
    // A browser on another site: what it sends is no business of Headgate.
    const browser = { origin: 'https://shop.example', cookie: 'a=b', authorization: 'Basic eDp5' }
    for (const left of [1, 0]) {
      const passed = await get('', browser)
      expect([passed.status, await passed.text()]).toEqual([200, 'from the application'])
      expect(passed.headers.get('ratelimit')).toMatch(new RegExp(`^"PerClient";r=${left};t=\\d+$`))
      expect(passed.headers.get('ratelimit-policy')).toBe('"PerClient";q=2;w=3600')
    }
    const refused = await get('', browser)
    expect(refused.status).toBe(429)
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(Number(refused.headers.get('retry-after'))).toBe(1_800)
    expect(refused.headers.get('ratelimit')).toMatch(/^"PerClient";r=0;t=\d+$/)
    expect(await refused.json()).toMatchObject({ status: 429 })
    expect(seen.map(({ cookie }) => cookie)).toEqual(['a=b', 'a=b'])
  })

  test('leaves a 403 of the application alone', async () => {
    const { get } = await startNginx(CLOSED, (await startHeadgate()).port)
    expect((await get('forbidden')).status).toBe(403)
  })

  test('with a token any Host will do', async () => {
    const sha256 = createHash('sha256').update('hg_a').digest('hex')
    const tokens = [{ name: 'nginx', sha256, scopes: ['decide' as const] }]
    const { port } = await startHeadgate({ tokens })
    const header = 'proxy_set_header Authorization "Bearer hg_a";'
    const told = CLOSED.replace('proxy_set_header Host localhost;', header)
    expect((await (await startNginx(told, port)).get()).status).toBe(200)
    expect((await (await startNginx(CLOSED, port)).get()).status).toBe(503)
  })

  test('closed: nobody passes while Headgate is down', async () => {
    const { get, seen, errors } = await startNginx(CLOSED, await deadPort())
    const answer = await get()
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(seen).toEqual([])
    expect(errors()).toContain('auth request unexpected status: 502')
  })

  test('open: everybody passes while Headgate is down, and nobody past a limit while it is up', async () => {
    const down = await startNginx(OPEN, await deadPort())
    for (let n = 0; n < 3; n++) expect((await down.get()).status).toBe(200)
    const up = await startNginx(OPEN, (await startHeadgate()).port)
    const statuses = [await up.get(), await up.get(), await up.get()].map(({ status }) => status)
    expect(statuses).toEqual([200, 200, 429])
  })

  test('open: a mistake in its configuration still lets nobody pass', async () => {
    const wrong = OPEN.replace('limit=PerClient', 'limit=PerClint')
    const { get, seen } = await startNginx(wrong, (await startHeadgate()).port)
    expect((await get()).status).toBe(503)
    expect(seen).toEqual([])
  })

  test('counts the text that a client chose, and lets nobody smuggle a cost', async () => {
    const { get, seen } = await startNginx(BY_KEY, (await startHeadgate()).port)
    const statuses: number[] = []
    for (const key of ['a', 'a', 'b', 'a', 'a&cost=0', 'a&limit=PerClient', 'a b', '']) {
      statuses.push((await get('', { 'x-api-key': key })).status)
    }
    expect(statuses).toEqual([200, 200, 200, 429, 503, 503, 503, 503])
    expect(seen).toHaveLength(3)
  })

  test('a named upstream without Host is an error with a warning, and refuses nobody', async () => {
    const wrong = CLOSED.replace('proxy_set_header Host localhost;', '').replace(
      'error_page 500 = @undecided;',
      '',
    )
    const { port, lines } = await startHeadgate()
    const { get, errors } = await startNginx(wrong, port)
    expect((await get()).status).toBe(500)
    expect(errors()).toContain('auth request unexpected status: 500')
    const warning = JSON.parse(lines.join())
    const [, shown = ''] = /```json\n(.*)\n```/.exec(page) ?? []
    expect(warning).toMatchObject({ ...JSON.parse(shown), msg: expect.any(String) })
  })
})
