/** `keys`, `delegate`, `rates` and `revoke`, as typed: on the store here, and on a server elsewhere. */
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCommand } from '../../src/cli/run-command.ts'
import { headgate, type Outcome, serveHeadgate } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'

const LIMITS = `
limits: { Foos: { id: opaque, burst: 9, count: 9, period: 1h } }
store: sqlite:./headgate.db
`
const CONFIG = `${LIMITS}subjects: {}\n`

/** A folder with a configuration, and the commands as a person in it would type them. */
const place = (config = CONFIG) => {
  const { path, write } = configFolder({ 'headgate.yml': config })
  const usual = { HEADGATE_CONFIG: join(path, 'headgate.yml') }
  const act = async (words: readonly string[], more: Record<string, string> = {}) => {
    const said = { out: '', err: '' }
    const terminal = {
      out: (text: string) => (said.out += `${text}\n`),
      bytes: () => undefined,
      err: (text: string) => (said.err += `${text}\n`),
    }
    const exit = await runCommand(words, { environment: { ...usual, ...more }, terminal })
    return { exit, ...said }
  }
  const run = (...words: string[]) => act(words)
  const json = async (...words: string[]) => read(await run(...words, '--json'))
  return { path, write, act, run, json }
}

const read = ({ out }: Pick<Outcome, 'out'>) => JSON.parse(out)

/** An agent with a key of its own in a file, in a folder of its own. */
const newAgent = async () => {
  const { path, write, run } = place(LIMITS)
  const { did, secret } = read(await run('keys', 'new', '--json'))
  const key = write('agent.key', `${secret}\n`)
  chmodSync(key, 0o600)
  return { did, secret, path, write, run, key }
}

describe('keys', () => {
  test('new makes one in the form of ucanto, and show tells its DID but never the secret', async () => {
    const { did, secret, run, key } = await newAgent()
    expect(did).toMatch(/^did:key:z6Mk/)
    expect(secret).toMatch(/^Mg/)
    const shown = await run('keys', 'show', '--key', key)
    expect(shown).toEqual({ exit: 0, out: `${did}\n`, err: '' })
    const told = await run('keys', 'new')
    expect(told.out).toMatch(/^Mg\S+\n[\s\S]+Its DID, which others may know: did:key:z6Mk/)
  })

  test('show makes and keeps the key of the server here, as its first start would', async () => {
    const { path, run } = place(`${LIMITS}subjects: { identity: "did:web:hg.example" }`)
    const shown = await run('keys', 'show')
    expect(shown.out).toMatch(/^did {2}did:web:hg\.example\nkey {2}did:key:z6Mk/)
    expect(statSync(join(path, 'headgate.db.key')).mode & 0o777).toBe(0o600)
    expect(await run('keys', 'show')).toEqual(shown)
  })

  test('a key that is none is refused without being repeated', async () => {
    const { run, write } = place()
    const bad = write('bad.key', 'MgNotAKey')
    chmodSync(bad, 0o600)
    const { exit, err } = await run('keys', 'show', '--key', bad)
    expect([exit, err]).toEqual([1, expect.stringMatching(/^error KEY_INVALID: /)])
    expect(err).not.toContain('NotAKey')
    const missing = await run('keys', 'show', '--key', 'nowhere.key')
    expect(missing.err).toMatch(/^error FILE_UNREADABLE: --key: /)
  })

  test('a file that a group can read is told and used, one that all can read is refused, by every command', async () => {
    const { did, run, key } = await newAgent()
    const owner = place()
    const commands = [
      ['keys', 'show'],
      ['delegate', '--to', did, '--can', 'rate-limit/add'],
      ['rates', 'list', 'a.test'],
    ]
    for (const words of commands) {
      chmodSync(key, 0o640)
      const told = await owner.run(...words, '--key', key)
      expect(told.err).toMatch(/^warning KEY_FILE_SHARED: file .+agent\.key: .+, found mode 640\n/)
      expect(told.err).not.toContain('KEY_FILE_EXPOSED')
      chmodSync(key, 0o604)
      const refused = await owner.run(...words, '--key', key)
      expect([refused.exit, refused.out]).toEqual([1, ''])
      expect(refused.err).toMatch(/^error KEY_FILE_EXPOSED: file .+, found mode 604\n/)
    }
    const folder = await run('keys', 'show', '--key', owner.path)
    expect(folder.err).toMatch(/^error FILE_UNREADABLE: --key: .+EISDIR/)
  })
})

describe('rates on the store here', () => {
  test('are added, listed, looked up and removed by the key of the server', async () => {
    const { run, json } = place()
    const added = await json(
      'rates',
      'add',
      'Example.com',
      '0',
      '--reason',
      'spam',
      '--expires',
      '7d',
    )
    const { id } = added
    expect((await json('rates', 'list', 'Example.com')).limits).toEqual([{ id, rate: 0, limit: 0 }])
    expect(await json('rates', 'get', id)).toMatchObject({ subject: 'Example.com', reason: 'spam' })
    expect((await run('rates', 'get', id)).out).toMatch(/^by +did:key:z6Mk/m)
    const blocked = await run('check', 'Foos', 'ann', '--subject', 'ann@mail.example.com')
    expect(blocked).toMatchObject({ exit: 2, out: 'refused  Foos  ann  a subject is blocked\n' })
    expect((await run('rates', 'remove', id)).out).toBe(`removed ${id}\n`)
    expect((await run('rates', 'list', 'Example.com')).out).toBe('none\n')
    expect((await run('check', 'Foos', 'ann', '--subject', 'ann@example.com')).exit).toBe(0)
  })

  test('set replaces by label and loosens a block only by force', async () => {
    const { run, json } = place()
    const first = await json('rates', 'set', 'a.test', '0', '--label', 'fraud')
    const refused = await run('rates', 'set', 'a.test', '5', '--label', 'fraud')
    expect(refused).toMatchObject({ exit: 2, out: '' })
    expect(refused.err).toMatch(/^refused RateLimitLoosened: /)
    const { out } = await run('rates', 'set', 'a.test', '5', '--label', 'fraud', '--force')
    expect(out).toMatch(new RegExp(`^set \\S+ in place of ${first.id}\n$`))
  })

  test('query and history go page by page', async () => {
    const { run, json } = place()
    for (const subject of ['a.test', 'b.test']) await json('rates', 'add', subject, '2')
    await run('rates', 'add', '--label', 'vip', '--', 'c.test', '-1')
    const page = await run('rates', 'query', '--prefix', 'a', '--since', '1h')
    expect(page.out).toMatch(/^ID +SUBJECT +RATE +LABEL +EXPIRES +REASON\n\S+ +a\.test +2\n$/)
    expect((await json('rates', 'query', '--label', 'vip')).rates).toMatchObject([{ rate: -1 }])
    const first = await run('rates', 'history', '--limit', '2')
    expect(first.out).toMatch(/^more: --after 2$/m)
    const rest = await json('rates', 'history', '--after', '2')
    expect(rest.entries).toMatchObject([{ position: 3, kind: 'add' }])
    expect((await json('rates', 'history', '--subject', 'B.TEST')).entries).toHaveLength(1)
  })

  test('an unknown id is refused by its name, in JSON too', async () => {
    const { run } = place()
    const plain = await run('rates', 'remove', 'nothing')
    expect([plain.exit, plain.err]).toEqual([
      2,
      expect.stringMatching(/^refused RateLimitsNotFound: rate nothing: /),
    ])
    const told = await run('rates', 'remove', 'nothing', '--json')
    expect([told.exit, read(told).error.name]).toEqual([2, 'RateLimitsNotFound'])
  })

  test('where subjects are off, the command says what is missing', async () => {
    const { exit, err } = await place(LIMITS).run('rates', 'list', 'a.test')
    expect([exit, err]).toEqual([1, expect.stringMatching(/^error SUBJECTS_OFF: subjects: /)])
  })

  test.each([
    [['rates', 'add', 'a.test', 'much'], 'FLAG_VALUE_INVALID: RATE: must be a number'],
    [['rates', 'add', 'a.test', '0', '--expires', 'soon'], 'FLAG_VALUE_INVALID: --expires: must'],
    [['rates', 'set', 'a.test', '0'], 'FLAG_VALUE_MISSING: --label: must be given'],
    [['delegate', '--can', 'rate-limit/add'], 'FLAG_VALUE_MISSING: --to: must be given'],
    [['delegate', '--to', 'ann', '--can', 'rate-limit/add'], 'PROOF_INVALID: to: must be a DID'],
    [['revoke', 'bafy'], 'FLAG_VALUE_MISSING: --proof: must be given'],
  ])('%s is a mistake', async (words, message) => {
    const { exit, err } = await place().run(...words)
    expect([exit, err]).toEqual([1, expect.stringContaining(message)])
  })
})

describe('on a server elsewhere', () => {
  const open = async (config = CONFIG) => {
    const owner = place(config)
    const { url } = await serveHeadgate(['--log-level', 'warn'], { cwd: owner.path })
    const grant = async (to: string, ...terms: string[]) => {
      const { car, cid } = await owner.json('delegate', '--to', to, ...terms)
      return { cid, car: Buffer.from(car, 'base64') }
    }
    return { ...owner, url, grant, key: join(owner.path, 'headgate.db.key') }
  }

  test('an agent does what its proof allows and no more, until it is revoked', async () => {
    const { url, grant, run, key } = await open()
    const agent = await newAgent()
    const narrowed = ['--can', 'rate-limit/add', '--subject', 'a.test', '--expires', '7d']
    const { cid, car } = await grant(agent.did, ...narrowed)
    const proof = join(agent.path, 'proof.car')
    writeFileSync(proof, car)
    const act = (...words: string[]) =>
      agent.run(...words, '--server', url, '--key', agent.key, '--proof', proof)
    expect(await act('rates', 'add', 'a.test', '0')).toMatchObject({ exit: 0 })
    expect(await act('rates', 'add', 'b.test', '0')).toMatchObject({
      exit: 2,
      err: expect.stringMatching(/^refused Unauthorized: [\s\S]+b\.test violates imposed subject/),
    })
    expect(await act('rates', 'list', 'a.test')).toMatchObject({ exit: 2 })
    const revoked = await run('revoke', cid, '--proof', proof, '--server', url, '--key', key)
    expect(revoked).toMatchObject({ exit: 0, out: expect.stringMatching(`^revoked ${cid} at `) })
    expect((await act('rates', 'add', 'a.test', '0')).err).toContain('revoked')
  })

  test('a right is handed on, offline, by whoever has it', async () => {
    const { url, grant } = await open()
    const [lead, helper] = [await newAgent(), await newAgent()]
    const first = join(lead.path, 'first.car')
    writeFileSync(first, (await grant(lead.did, '--can', 'rate-limit/*')).car)
    const words = ['--to', helper.did, '--can', 'rate-limit/list', '--json']
    const made = read(await lead.run('delegate', '--key', lead.key, '--proof', first, ...words))
    const second = join(helper.path, 'second.car')
    writeFileSync(second, Buffer.from(made.car, 'base64'))
    const act = (...asked: string[]) =>
      helper.run(...asked, '--server', url, '--key', helper.key, '--proof', second)
    expect((await act('rates', 'list', 'a.test')).exit).toBe(0)
    expect((await act('rates', 'add', 'a.test', '0')).exit).toBe(2)
  })

  test('the proof goes to standard output as it is, and what it is to standard error', async () => {
    const { path, json } = place()
    const { did } = await newAgent()
    const words = ['--to', did, '--can', 'rate-limit/list', '--expires', '2030-01-31T12:00:00Z']
    const { exit, out, err } = await headgate(['delegate', ...words], { cwd: path })
    expect(exit).toBe(0)
    expect(out.length).toBeGreaterThan(100)
    expect(err).toBe(
      `${(await json('delegate', ...words)).cid}: rate-limit/list for ${did} until 2030-01-31 12:00:00 UTC\n`,
    )
  })

  test('a service under a did:web knows its own key, which the environment may hold', async () => {
    const { url, key } = await open(`${LIMITS}subjects: { identity: "did:web:hg.example" }`)
    const { act } = place(LIMITS)
    const env = { HEADGATE_UCAN_KEY: readFileSync(key, 'utf8'), HEADGATE_SERVER: url }
    const added = await act(['rates', 'add', 'a.test', '0'], env)
    expect(added).toMatchObject({ exit: 0, err: '' })
  })

  test('without a key, with a proof for another service, or with subjects off, it says so', async () => {
    const { url, path } = await open()
    const { run } = place(LIMITS)
    const keyless = await run('rates', 'list', 'a.test', '--server', url)
    expect(keyless.err).toMatch(/^error FLAG_VALUE_MISSING: --key: or HEADGATE_UCAN_KEY must/)
    const other = place()
    const agent = await newAgent()
    const made = await other.json('delegate', '--to', agent.did, '--can', 'rate-limit/list')
    const proof = join(path, 'other.car')
    writeFileSync(proof, Buffer.from(made.car, 'base64'))
    const words = ['rates', 'list', 'a.test', '--key', agent.key, '--proof', proof]
    expect((await run(...words, '--server', url)).err).toMatch(
      /^error FLAG_VALUE_INVALID: --proof: must be about the service that is asked, did:key:z6Mk/,
    )
    const off = await serveHeadgate([], { cwd: place(LIMITS).path })
    const unserved = await run('rates', 'list', 'a.test', '--server', off.url, '--key', agent.key)
    expect(unserved.err).toMatch(/^error SUBJECTS_OFF: /)
  })
})
