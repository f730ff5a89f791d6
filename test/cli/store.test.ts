import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabaseFile } from '../../src/stores/sqlite/driver.ts'
import { headgate, serveHere } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'
import { sharedUrl } from '../support/services.ts'

const CONFIG = `store: sqlite:./headgate.db
limits:
  Foos: { id: opaque, burst: 5, count: 5, period: 24h }
subjects: { keyFile: ./ucan.key }
spending:
  payer: 0.0.2
  total: 1000
  window: 365d
  tiers: { BASIC: 300, EXTENDED: 500, PRIVILEGED: 800 }
`

const place = () => {
  const cwd = configFolder({ 'headgate.yml': CONFIG }).path
  const run = (...words: readonly string[]) => headgate(words, { cwd })
  return { cwd, run }
}

/** Something of requests and spending. */
const used = async () => {
  const here = place()
  expect((await here.run('spend', 'Foos', 'ann', '--cost', '2')).exit).toBe(0)
  expect((await here.run('plans', 'create', 'guest', '--tier', 'BASIC')).exit).toBe(0)
  expect((await here.run('rates', 'add', 'example.com', '0')).exit).toBe(0)
  return here
}

/** What a person would look at before and after a move. */
const looksOf = async ({ run }: ReturnType<typeof place>, ...flags: readonly string[]) => {
  const found = []
  for (const words of [
    ['check', 'Foos', 'ann', '--cost', '3'],
    ['limits', 'list'],
    ['limits', 'show', 'Foos', 'ann'],
    ['plans', 'list'],
    ['plans', 'show', 'guest'],
    ['plans', 'history', 'guest'],
    ['plans', 'grants', 'guest'],
    ['spending', 'report'],
    ['spending', 'holds'],
    ['ledger', 'verify'],
    ['ledger', 'export'],
    ['rates', 'list', 'example.com'],
    ['rates', 'query'],
    ['rates', 'history'],
    ['rates', 'export'],
    ['rates', 'explain', 'example.com'],
  ]) {
    const { exit, out, err } = await run(...words, ...flags)
    expect([words, exit, err]).toEqual([words, 0, ''])
    found.push(out.replace(/full in.*/g, ''))
  }
  return found
}

describe('a store is moved', () => {
  test('export fences it, import fills another, and both say what they did', async () => {
    const here = await used()
    const before = await looksOf(here)
    const taken = await here.run('store', 'export', 'sqlite:./headgate.db', 'all.export')
    expect(taken).toMatchObject({
      exit: 0,
      err: expect.stringMatching(/reading the store: \d+ %\n/),
      out: expect.stringMatching(
        /^all\.export: \d+ keys, \d+ entries in \d+ streams, digest [\da-f]{16}\nthe store stays fenced; headgate store unfence URL export-[\da-f]{12} ends that\n$/,
      ),
    })
    expect(await here.run('spend', 'Foos', 'ann')).toMatchObject({
      exit: 1,
      err: expect.stringContaining('STORE_FENCED'),
    })
    const brought = await here.run('store', 'import', 'all.export', 'sqlite:./other.db', '--json')
    expect(brought.exit).toBe(0)
    expect(JSON.parse(brought.out)).toMatchObject({ continued: 0, keys: expect.any(Number) })
    const other = ['--store', 'sqlite:./other.db']
    expect(await looksOf(here, ...other)).toEqual(before)
    expect((await here.run('spend', 'Foos', 'ann', '--cost', '4', ...other)).exit).toBe(2)
  })

  test('a fence is taken away by its name, and by no other', async () => {
    const here = await used()
    const url = 'sqlite:./headgate.db'
    const { out } = await here.run('store', 'export', url, 'all.export', '--json')
    const { fence } = JSON.parse(out)
    expect(await here.run('store', 'unfence', url, 'export-1')).toMatchObject({
      exit: 1,
      err: expect.stringMatching(new RegExp(`STORE_FENCED_OTHERWISE.*${fence}`)),
    })
    expect(await here.run('store', 'unfence', url, fence)).toMatchObject({
      exit: 0,
      out: expect.stringContaining(`gone: ${fence}`),
    })
    expect((await here.run('spend', 'Foos', 'ann')).exit).toBe(0)
    expect(await here.run('store', 'unfence', url, fence)).toMatchObject({
      exit: 0,
      out: 'there was no fence\n',
    })
  })

  test('a server on a fenced store refuses as if it were down, and goes on once the fence is gone', async () => {
    const here = await used()
    const server = await serveHere([], { cwd: here.cwd })
    const spend = () =>
      fetch(`${server.url}/v1/spend`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ limit: 'Foos', id: 'bob' }),
      })
    expect((await spend()).status).toBe(200)
    const url = `sqlite:${join(here.cwd, 'headgate.db')}`
    const { out } = await here.run('store', 'export', url, 'all.export', '--json')
    const refused = await spend()
    expect(refused.status).toBe(503)
    expect(await refused.json()).toMatchObject({ code: 'STORE_FENCED' })
    await here.run('store', 'unfence', url, JSON.parse(out).fence)
    expect((await spend()).status).toBe(200)
  })

  test.each([
    ['export memory: a.export', 'STORE_NOT_MOVABLE'],
    ['export sqlite:./none.db a.export', 'STORE_NOT_MOVABLE'],
    ['export mysql://h a.export', 'STORE_URL_INVALID'],
    ['export sqlite:./headgate.db headgate.yml', 'STORE_FILE_UNWRITABLE'],
    ['import headgate.yml sqlite:./new.db', 'STORE_FILE_INVALID'],
    ['import none.export sqlite:./new.db', 'STORE_FILE_INVALID'],
    ['backup redis://h a.db', 'STORE_NOT_MOVABLE'],
    ['backup sqlite:./none.db a.db', 'STORE_UNOPENABLE'],
    ['backup sqlite:./headgate.db headgate.yml', 'STORE_BACKUP_FAILED'],
    ['export sqlite:./headgate.db', 'OPERAND_MISSING'],
  ])('store %s: %s', async (words, code) => {
    const { cwd, run } = await used()
    const { exit, err } = await run('store', ...words.split(' '))
    expect([exit, err]).toEqual([1, expect.stringContaining(`error ${code}: `)])
    expect((await run('spend', 'Foos', 'ann')).exit).toBe(0)
    expect(readFileSync(join(cwd, 'headgate.yml'), 'utf8')).toBe(CONFIG)
    expect(existsSync(join(cwd, 'none.db'))).toBe(false)
  })
})

test('a backup opens as the store was', async () => {
  const here = await used()
  const before = await looksOf(here)
  const { exit, out } = await here.run('store', 'backup', 'sqlite:./headgate.db', 'copy.db')
  expect([exit, out]).toEqual([0, expect.stringMatching(/^copy\.db: \d+ keys, \d+ entries, \d+ b/)])
  rmSync(join(here.cwd, 'headgate.db'))
  expect(await looksOf(here, '--store', 'sqlite:./copy.db')).toEqual(before)
})

test('a restored backup agrees with itself, forgets what came later, and only an anchor tells', async () => {
  const here = await used()
  await here.run('store', 'backup', 'sqlite:./headgate.db', 'copy.db')
  await here.run('spend', 'Foos', 'ann', '--cost', '3')
  await here.run('plans', 'grant', 'guest', '25')
  await here.run('rates', 'add', 'late.example', '0')
  const anchor = /head (\d+:\S+)/.exec((await here.run('ledger', 'verify')).out)?.[1] ?? ''
  const restored = ['--store', 'sqlite:./copy.db']
  expect((await here.run('ledger', 'verify', ...restored)).exit).toBe(0)
  expect(await here.run('ledger', 'verify', '--anchor', anchor, ...restored)).toMatchObject({
    exit: 1,
    out: expect.stringContaining('anchor-missing'),
  })
  expect((await here.run('spend', 'Foos', 'ann', '--cost', '3', ...restored)).exit).toBe(0)
  const { out } = await here.run('rates', 'explain', 'late.example', ...restored)
  expect(out).toContain('no rate applies')
})

test('commands that only look wait for no one who writes', async () => {
  const here = await used()
  const before = await looksOf(here)
  const writer = openDatabaseFile(join(here.cwd, 'headgate.db'), { timeout: 0 })
  onTestFinished(() => writer.close())
  writer.exec('BEGIN IMMEDIATE')
  expect(await looksOf(here)).toEqual(before)
})

describe('check', () => {
  test('tells what a file is like, and makes none', async () => {
    const here = await used()
    const { exit, out } = await here.run('store', 'check', 'sqlite:./headgate.db')
    expect([exit, out]).toEqual([
      0,
      expect.stringMatching(/journal +wal[\s\S]*fence +none[\s\S]*fit +yes/),
    ])
    const absent = await here.run('store', 'check', 'sqlite:./none.db', '--json')
    expect(JSON.parse(absent.out)).toMatchObject({ fit: true, facts: { file: 'none yet' } })
    expect(existsSync(join(here.cwd, 'none.db'))).toBe(false)
    const foreign = await here.run('store', 'check', 'sqlite:./headgate.yml')
    expect([foreign.exit, foreign.out]).toEqual([
      1,
      expect.stringContaining('STORE_NOT_A_DATABASE'),
    ])
  })

  test('a server that is not there is not fit', async () => {
    const { run } = place()
    for (const url of ['redis://127.0.0.1:1', 'postgres://127.0.0.1:1/nobody']) {
      const { exit, out } = await run('store', 'check', url)
      expect([exit, out]).toEqual([1, expect.stringContaining('STORE_UNAVAILABLE')])
    }
  })
})

for (const kind of ['redis', 'cluster', 'postgres'] as const) {
  const url = await sharedUrl(kind)
  test.skipIf(url === undefined)(
    `check tells what ${kind} is like, without its password`,
    async () => {
      const { exit, out } = await place().run('store', 'check', url ?? '', '--json')
      const found = JSON.parse(out)
      expect([exit, found.fit, found.fence]).toEqual([0, true, undefined])
      expect(found).toMatchObject({
        answers: { asked: 20 },
        clockAheadMs: expect.any(Number),
        facts: { format: expect.anything(), version: expect.stringMatching(/^\d+\./) },
      })
      expect(found.losses.length > 0).toBe(kind !== 'postgres')
    },
  )
}
