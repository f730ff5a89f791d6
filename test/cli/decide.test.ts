/** `check`, `spend`, `refund`, `reset` and `limits`, as typed. */
import { describe, expect, test } from 'vitest'
import { headgate, serveHere, spawnHeadgate } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'

const CONFIG = `
limits:
  Foos: { id: ipAddress, burst: 2, count: 1, period: 1h }
  Bars: { id: opaque }
  Jobs: { id: opaque, atOnce: 1, heldFor: 1h }
  Tried: { id: opaque, burst: 1, period: 1h, shadow: true }
overrides:
  - Bars: { burst: 7, count: 7, period: 1m, ids: [ { id: ann, comment: ticket 7 } ] }
`
const place = (config = CONFIG) => ({ cwd: configFolder({ 'headgate.yml': config }).path })

describe('a bucket on the command line', () => {
  test('is spent until it is empty, across processes, then refused with exit 2', async () => {
    const here = place()
    const spend = () => spawnHeadgate(['spend', 'Foos', '192.0.2.1'], here)
    const at = String.raw`at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`
    expect(await spend()).toEqual({
      exit: 0,
      out: expect.stringMatching(
        new RegExp(`^allowed  Foos  192\\.0\\.2\\.1  1 left, full in 1h, ${at}\n$`),
      ),
      err: '',
    })
    expect((await spend()).exit).toBe(0)
    const refused = await spend()
    expect(refused.exit).toBe(2)
    expect(refused.out).toMatch(
      new RegExp(`^refused  Foos  192\\.0\\.2\\.1  0 left, retry in \\S+ \\(59m\\S+s\\), ${at}\n$`),
    )
    expect((await headgate(['check', 'Foos', '192.0.2.1'], here)).exit).toBe(2)
    expect((await headgate(['check', 'Foos', '192.0.2.2'], here)).exit).toBe(0)
  })

  test('answers in JSON as the HTTP API does', async () => {
    const { exit, out } = await headgate(
      ['spend', 'Foos', '192.0.2.1', '--cost=2', '--json'],
      place(),
    )
    expect(exit).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      allowed: true,
      remaining: 0,
      resetAfterMs: 7_200_000,
      charges: [{ limit: 'Foos', id: '192.0.2.1', bucket: 'Foos:192.0.2.1', source: 'default' }],
    })
  })

  test('is filled again by reset, and partly by refund', async () => {
    const here = place()
    await headgate(['spend', 'Foos', '192.0.2.1', '--cost', '2'], here)
    const refund = await headgate(['refund', 'Foos', '192.0.2.1'], here)
    expect(refund).toMatchObject({ exit: 0, out: expect.stringContaining('refunded  Foos') })
    const reset = await headgate(['reset', 'Foos', '192.0.2.1'], here)
    expect(reset).toMatchObject({ exit: 0, out: 'reset  Foos  192.0.2.1  2 left\n' })
    const full = await headgate(['refund', 'Foos', '192.0.2.1'], here)
    expect(full).toMatchObject({ exit: 2, out: expect.stringContaining('nothing to give back') })
  })

  test('is charged once for one operation id, and given back by it', async () => {
    const here = place()
    const spend = () => headgate(['spend', 'Foos', '192.0.2.1', '--operation', 'order-1'], here)
    await spend()
    expect((await spend()).out).toContain('1 left')
    expect((await spend()).out).toContain('as answered before: nothing was charged')
    expect((await headgate(['refund', '--operation', 'order-1'], here)).exit).toBe(0)
    expect((await headgate(['limits', 'show', 'Foos', '192.0.2.1'], here)).out).toContain('2 left')
  })
})

describe('limits', () => {
  test('list shows every limit with its rate', async () => {
    const { out } = await headgate(['limits', 'list'], place())
    expect(out).toMatch(/^LIMIT +ID +DEFAULT +OVERRIDES\n/)
    expect(out).toMatch(/^Foos +ipAddress +2 at once, 1 every 1h +0$/m)
    expect(out).toMatch(/^Bars +opaque +none +1$/m)
    expect(out).toMatch(/^NewOrdersPerAccount +regId +none +0$/m)
  })

  test('show tells what is in force for an id, and why', async () => {
    const here = place()
    const ann = await headgate(['limits', 'show', 'Bars', 'ann'], here)
    expect(ann.out).toMatch(/^rate +7 at once, 7 every 1m$/m)
    expect(ann.out).toMatch(/^from +override \(ticket 7\)$/m)
    expect(ann.out).toMatch(/^now +7 left$/m)
    const bob = await headgate(['limits', 'show', 'Bars', 'bob'], here)
    expect(bob.out).toMatch(/^now +no limit in force$/m)
    const limit = await headgate(['limits', 'show', 'Bars', '--json'], here)
    expect(JSON.parse(limit.out)).toMatchObject({ name: 'Bars', idFormat: 'opaque', overrides: 1 })
  })
})

describe('with --server', () => {
  test('the same commands ask a server, which counts for all', async () => {
    const server = await serveHere([], place())
    const elsewhere = { cwd: configFolder().path, env: { HEADGATE_SERVER: server.url } }
    const spend = () => headgate(['spend', 'Foos', '192.0.2.1'], elsewhere)
    expect([(await spend()).exit, (await spend()).exit, (await spend()).exit]).toEqual([0, 0, 2])
    const list = await headgate(['limits', 'list', '--server', server.url], { cwd: elsewhere.cwd })
    expect(list.out).toMatch(/^Foos +ipAddress/m)
  })

  test('the token is shown, and what the server says against it is told', async () => {
    const made = await headgate(['tokens', 'new', '--name', 'ci', '--json'], place())
    const { token, name, sha256, scopes } = JSON.parse(made.out)
    const tokens = `tokens: [{name: ${name}, sha256: ${sha256}, scopes: [${scopes}]}]`
    const { url } = await serveHere([], place(`${CONFIG}\n${tokens}`))
    const here = { cwd: configFolder().path }
    const ask = (...words: string[]) =>
      headgate([...words, 'Foos', '192.0.2.1', '--server', url, '--token', token], here)
    expect((await ask('spend')).exit).toBe(0)
    expect(await ask('reset')).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/^error SCOPE_MISSING: /),
    })
    const bare = await headgate(['check', 'Foos', '192.0.2.1', '--server', url], here)
    expect(bare).toMatchObject({ exit: 1, err: expect.stringMatching(/^error TOKEN_MISSING: /) })
  })

  test('a server that is not there is a coded error', async () => {
    const words = ['check', 'Foos', 'x', '--server', 'http://127.0.0.1:1']
    const { exit, err } = await headgate(words, { cwd: configFolder().path })
    expect(exit).toBe(1)
    expect(err).toMatch(/^error SERVER_UNREACHABLE: http:\/\/127\.0\.0\.1:1: must answer within/)
  })
})

describe('a place on the command line', () => {
  test('is acquired, refused with exit 2 while it is taken, and released once', async () => {
    const here = place()
    const acquire = (name: string) => headgate(['acquire', 'Jobs', 'x', '--operation', name], here)
    expect(await acquire('job-1')).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/^acquired {2}job-1 {2}until \S+Z, 0 left\n$/),
    })
    expect((await acquire('job-1')).exit).toBe(0)
    expect(await acquire('job-2')).toMatchObject({
      exit: 2,
      out: expect.stringMatching(/^refused {2}all places are taken, retry in .+ at the latest\n$/),
    })
    const release = () => headgate(['release', 'job-1'], here)
    expect(await release()).toEqual({ exit: 0, out: 'released\n', err: '' })
    expect(await release()).toEqual({ exit: 2, out: 'not held any more\n', err: '' })
    const acquireFor = (length: string) =>
      headgate(['acquire', 'Jobs', 'x', '--held-for', length, '--json'], here)
    expect(JSON.parse((await acquireFor('1s')).out)).toMatchObject({ allowed: true })
    expect((await acquireFor('0s')).err).toContain('DURATION_INVALID')
  })

  test('and a shadow are shown for what they are', async () => {
    const here = place()
    const list = (await headgate(['limits', 'list'], here)).out
    expect(list).toMatch(/Jobs +opaque +1 at one time, each for 1h at most +0/)
    expect(list).toMatch(/Tried +opaque +1 at once, 1 every 1h \(shadow: refuses nothing\) +0/)
    const shown = (await headgate(['limits', 'show', 'Jobs', 'x'], here)).out
    expect(shown).toMatch(/rate +1 at one time, each for 1h at most/)
    expect(shown).toMatch(/now +1 left/)
    const spend = () => headgate(['spend', 'Tried', 'x'], here)
    await spend()
    expect(await spend()).toMatchObject({ exit: 0, out: expect.stringMatching(/^shadow {2}Tried/) })
  })
})
