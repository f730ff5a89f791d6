/** `plans` and `spending`, as typed. */
import { writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { headgate, serveHeadgate, serveHere, spawnHeadgate } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'

const CONFIG = `
spending:
  payer: 0.0.2
  total: 1000
  window: 365d
  tiers: { BASIC: 300, EXTENDED: 500, PRIVILEGED: 800 }
  plansFile: plans.json
`
const PLANS = '[{"id":"partner","ethAddresses":["0xA1"],"subscriptionType":"EXTENDED"}]'
const NEW_PLANS = '[{"id":"partner","ethAddresses":["0xA1","0xB2"],"subscriptionType":"BASIC"}]'

const place = () => {
  const files = { 'headgate.yml': CONFIG, 'plans.json': PLANS, 'new.json': NEW_PLANS }
  return { cwd: configFolder(files).path }
}

describe('plans on the command line', () => {
  test('are created, linked, given more, switched, shown and listed', async () => {
    const here = place()
    const run = (...words: readonly string[]) => headgate(['plans', ...words], here)
    expect(await run('create', 'guest', '--tier', 'BASIC', '--own-limit', '50')).toEqual({
      exit: 0,
      out: 'plan guest: BASIC, limit 50, active\n',
      err: '',
    })
    expect((await run('link', 'guest', '0xC3')).out).toBe('0xC3 linked to plan guest\n')
    expect((await run('grant', 'guest', '25', '--expires', '7d', '--reason', 'fair')).out).toMatch(
      /^plan guest was given 25, 75 remaining: grant [\w-]{16}\n$/,
    )
    expect((await run('deactivate', 'guest')).out).toContain('inactive')
    expect((await run('activate', 'guest')).out).toContain('active')
    expect((await run('show', 'guest')).out).toMatch(/^remaining +75$/m)
    expect((await run('unlink', 'guest', '0xc3')).out).toBe('0xc3 unlinked from plan guest\n')
    const list = await run('list')
    expect(list.out).toMatch(/^guest +BASIC +50 +active +store$/m)
    expect(list.out).toMatch(/^partner +EXTENDED +500 +active +file$/m)
    const history = await run('history', 'guest')
    expect(history.out).toMatch(/grant +25 issued → granted +Grant +fair/)
    const newest = await run('history', 'guest', '--newest', '--limit', '1')
    expect(newest.out).toMatch(/0xc3 unlinked\n\nmore: --after \d+\n$/)
    expect((await run('history', 'nobody')).err).toContain('PLAN_NOT_FOUND')
  })

  test('are changed and retired, and the ledger says why', async () => {
    const here = place()
    const run = (...words: readonly string[]) => headgate(['plans', ...words], here)
    await run('create', 'guest', '--tier', 'BASIC')
    const change = [
      '--tier',
      'EXTENDED',
      '--own-limit',
      '70',
      '--name',
      'a guest',
      '--reason',
      'ok',
    ]
    expect((await run('change', 'guest', ...change)).out).toBe(
      'plan guest: EXTENDED, limit 70, active\n',
    )
    expect((await run('change', 'guest', '--own-limit', 'tier')).out).toContain('limit 500')
    expect((await run('change', 'guest')).err).toContain('PLAN_CHANGE_EMPTY')
    expect((await run('retire', 'guest', '--reason', 'over')).out).toContain('retired')
    expect((await run('list')).out).toMatch(/^guest +EXTENDED +500 +retired +store +a guest$/m)
    expect((await run('activate', 'guest')).err).toContain('PLAN_RETIRED')
    expect((await run('retire', 'partner')).err).toContain('PLAN_IN_FILE')
    const { out } = await run('history', 'guest')
    expect(out).toMatch(/change .*tier BASIC → EXTENDED, limit that of its tier → 70.*: ok$/m)
    expect(out).toMatch(/retire .*plan retired: over$/m)
  })

  test('have grants, which are given once, listed and voided', async () => {
    const here = place()
    const run = (...words: readonly string[]) => headgate(['plans', ...words], here)
    const give = ['grant', 'partner', '25', '--expires', '7d', '--operation-id', 'fair-1', '--json']
    const { grantId } = JSON.parse((await run(...give)).out)
    expect(JSON.parse((await run(...give)).out)).toMatchObject({ grantId, replayed: true })
    expect((await run('show', 'partner')).out).toMatch(/^grant \S+ +25 of 25 left$/m)
    expect((await run('grants', 'partner')).out).toMatch(/ 25 +0 +0 +25 +0 +20\d\d-/)
    expect((await run('void', 'partner', grantId)).err).toContain('FLAG_VALUE_MISSING')
    const done = await run('void', 'partner', grantId, '--reason', 'a slip')
    expect(done.out).toBe(`25 of grant ${grantId} voided, 0 pinned\n`)
    const again = await run('void', 'partner', grantId, '--reason', 'a slip')
    expect([again.exit, again.err]).toEqual([1, expect.stringContaining('GRANT_NOT_FOUND')])
    expect((await run('history', 'partner', '--newest')).out).toContain('a slip')
  })

  test('a file shows what it would change, and mistakes in it are told', async () => {
    const here = place()
    const { out } = await headgate(['plans', 'diff', 'new.json'], here)
    expect(out).toBe(
      '~ plan partner: tier EXTENDED → BASIC, limit 500 → 300; spent 0 in this window, held 0\n+ 0xb2 in partner\n',
    )
    const gone = await headgate(['plans', 'diff', 'gone.json'], here)
    expect(gone).toMatchObject({ exit: 1, err: expect.stringContaining('FILE_UNREADABLE') })
    writeFileSync(`${here.cwd}/bad.json`, PLANS.replace('EXTENDED', 'GOLD'))
    const bad = await headgate(['plans', 'diff', 'bad.json'], here)
    expect([bad.exit, bad.err]).toEqual([
      1,
      expect.stringMatching(/^error PLAN_TYPE_INVALID: bad\.json:1:\d+: plans\[0\]/),
    ])
  })

  test('ask a server as they ask the store', async () => {
    const here = place()
    const { url } = await serveHere([], here)
    const run = (...words: readonly string[]) => headgate([...words, '--server', url], here)
    expect((await run('plans', 'create', 'guest', '--tier', 'BASIC')).exit).toBe(0)
    expect((await run('plans', 'list', '--json')).out).toContain('"guest"')
    expect((await run('ledger', 'export')).out).toContain('"detail":"plan created, BASIC"')
    expect((await run('plans', 'show', 'nobody')).err).toContain('PLAN_NOT_FOUND')
  })

  test('without the section they say how to get one', async () => {
    const cwd = configFolder({ 'headgate.yml': 'limits: {}' }).path
    const { exit, err } = await headgate(['plans', 'list'], { cwd })
    expect([exit, err]).toEqual([1, expect.stringContaining('SPENDING_OFF')])
  })
})

describe('spending on the command line', () => {
  test('a fee is estimated from size and rate, and from no rate not at all', async () => {
    const cwd = configFolder({}).path
    const estimate = (...words: readonly string[]) =>
      headgate(['spending', 'estimate', ...words], { cwd })
    expect((await estimate('6000', '--rate', '12')).out).toBe(
      '447191667 tinybars (4.47191667 HBAR)\n',
    )
    const blind = await estimate('6000')
    expect([blind.exit, blind.err]).toEqual([
      1,
      expect.stringContaining('EXCHANGE_RATE_UNAVAILABLE'),
    ])
  })

  test('open holds are listed, of all or of a plan', async () => {
    const here = place()
    const server = await serveHere([], here)
    for (const from of ['0xa1', '0xb2']) {
      await fetch(`${server.url}/v1/spending/hold`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ from, estimate: '30' }),
      })
    }
    const run = (...words: readonly string[]) => headgate(['spending', 'holds', ...words], here)
    const { out } = await run('--plan', 'partner')
    expect(out).toMatch(/ partner +0xa1 +Unspecified +30 +0 +20\d\d-/)
    expect(out).not.toContain('0xb2')
    const [, after = ''] = /more: --after (\S+)/.exec((await run('--limit', '1')).out) ?? []
    expect((await run('--after', after)).out).toContain('0xb2')
    expect((await run('--after', 'x')).err).toContain('HOLDS_ASK_INVALID')
    expect((await run('--server', server.url)).out).toBe((await run()).out)
  })

  test('a report adds up, in the smallest unit as everywhere, and in that of people', async () => {
    const here = place()
    const server = await serveHere([], here)
    await fetch(`${server.url}/v1/spending/record`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ from: '0xa1', amount: '450', operation: 'EthereumTransaction' }),
    })
    const { out } = await headgate(['spending', 'report'], here)
    expect(out).toMatch(/^total +450 \(0\.0000045 HBAR\)$/m)
    expect(out).toMatch(/^family +ETHEREUM +450 \(0\.0000045 HBAR\)$/m)
  })
})

describe('a server that spends', () => {
  const VARIABLES = {
    HBAR_RATE_LIMIT_TINYBAR: '1000',
    HBAR_RATE_LIMIT_DURATION: '86400000',
    HBAR_RATE_LIMIT_BASIC: '300',
    HBAR_RATE_LIMIT_EXTENDED: '500',
    HBAR_RATE_LIMIT_PRIVILEGED: '800',
  }

  test('is configured by the variables of a relay alone', async () => {
    const cwd = configFolder({ 'spendingPlansConfig.json': PLANS }).path
    const { url } = await serveHeadgate([], { cwd, env: VARIABLES })
    const page = await (await fetch(`${url}/v1/plans`)).json()
    expect(page).toMatchObject({ plans: [{ id: 'partner', limit: '500' }] })
  })

  test('does not start on a file that is named and missing, or on a total without tiers', async () => {
    const cwd = configFolder({}).path
    const gone = { ...VARIABLES, HBAR_SPENDING_PLANS_CONFIG_FILE: 'gone.json' }
    const missing = await headgate(['serve', '--port', '0'], { cwd, env: gone })
    expect(missing).toMatchObject({ exit: 1, err: expect.stringContaining('CONFIG_MISSING') })
    const env = { HBAR_RATE_LIMIT_TINYBAR: '1000' }
    const bare = await headgate(['serve', '--port', '0'], { cwd, env })
    expect(bare).toMatchObject({ exit: 1, err: expect.stringContaining('SETTING_MISSING') })
  })

  test('has its queue of fees for itself, and gets it back after kill -9', async () => {
    const cwd = configFolder({
      'headgate.yml': `${CONFIG}  queueFile: fees.queue\n`,
      'plans.json': PLANS,
    }).path
    const first = await serveHeadgate([], { cwd })
    const second = await spawnHeadgate(['serve', '--port', '0'], { cwd })
    expect([second.exit, second.err]).toEqual([1, expect.stringContaining('QUEUE_IN_USE')])
    expect(second.err).toMatch(/fees\.queue, found process \d+ has it/)
    first.signal('SIGKILL')
    await first.ended
    await serveHeadgate([], { cwd })
  })

  test('refuses to keep money in memory, unless it is a test', async () => {
    const { cwd } = place()
    const refused = await headgate(['plans', 'list', '--store', 'memory:'], { cwd })
    expect(refused).toMatchObject({ exit: 1, err: expect.stringContaining('SPENDING_ON_MEMORY') })
    const config = `${CONFIG}  allowMemory: true\n`
    const test = configFolder({ 'headgate.yml': config, 'plans.json': PLANS }).path
    const allowed = await headgate(['plans', 'list', '--store', 'memory:'], { cwd: test })
    expect(allowed.exit).toBe(0)
  })
})

test('lint reads the section and the file of plans as the server would', async () => {
  const twice = PLANS.replace(']', `,${PLANS.slice(1)}`)
  const cwd = configFolder({ 'headgate.yml': CONFIG, 'plans.json': twice.slice(0, -1) }).path
  const { exit, err } = await headgate(['lint', 'headgate.yml'], { cwd })
  expect([exit, err]).toEqual([1, expect.stringMatching(/plans\.json/)])
})
