/** `keys`, `delegate`, `rates` and `revoke`, as typed: on the store here, and on a server elsewhere. */
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { headgate, type Outcome, serveHere, spawnHeadgate } from '../support/cli.ts'
import { configFolder } from '../support/config-folder.ts'

const LIMITS = `
limits: { Foos: { id: opaque, burst: 9, count: 9, period: 1h } }
store: sqlite:./headgate.db
`
const CONFIG = `${LIMITS}subjects: {}\n`

/** A folder with a configuration, and the commands as a person in it would type them. */
const place = (config = CONFIG) => {
  const { path, write } = configFolder({ 'headgate.yml': config })
  const act = (words: readonly string[], env: Record<string, string> = {}) =>
    headgate(words, { cwd: path, env })
  const run = (...words: string[]) => act(words)
  const json = async (...words: string[]) => read(await run(...words, '--json'))
  return { path, write, act, run, json }
}

/** Asks again until there is an answer. */
const waitFor = async <T>(ask: () => Promise<T | undefined>): Promise<T> => {
  for (;;) {
    const found = await ask()
    if (found !== undefined) return found
  }
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

  test('new --out keeps it in a file of its owner and shows only its DID, never over another file', async () => {
    const { path, run } = place(LIMITS)
    const made = await run('keys', 'new', '--out', 'agent.key')
    expect(made.out).toMatch(/^did {3}did:key:z6Mk\S+\nfile {2}agent\.key\n$/)
    const file = join(path, 'agent.key')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const kept = readFileSync(file, 'utf8')
    expect((await run('keys', 'show', '--key', 'agent.key')).out).toBe(
      `${made.out.split(/\s+/)[1]}\n`,
    )
    const again = await run('keys', 'new', '--out', 'agent.key')
    expect(again).toMatchObject({ exit: 1, out: '' })
    expect(again.err).toMatch(/^error FILE_UNWRITABLE: --out: .+, found EEXIST\n/)
    expect(readFileSync(file, 'utf8')).toBe(kept)
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

  test('a rate below zero is written as it is', async () => {
    const { json } = place()
    const { id } = await json('rates', 'add', 'a.test', '-1.5', '--label', 'vip')
    expect(await json('rates', 'get', id)).toMatchObject({ rate: -1.5 })
    const { did } = await newAgent()
    const made = await json('delegate', '--to', did, '--can', 'rate-limit/add', '--rate', '-1')
    expect(made).toMatchObject({ can: 'rate-limit/add' })
  })

  test.each(['-w4Ta9Jn81CiM61qJelc2Jo9gwDtlyJAVgJg5i6MoCA', '--4Ta9Jn81CiM61qJelc2Jo9gwDtlyJA'])(
    'an id may begin with a dash: %s',
    async (id) => {
      expect((await place().run('rates', 'get', id)).err).toContain(`rate ${id}`)
    },
  )

  test('a block that could match nothing is refused before anything is asked', async () => {
    const { run, json } = place()
    for (const words of [['add'], ['set', '--label', 'fraud']]) {
      const refused = await run('rates', ...words, '198.51.100.7/24', '0')
      expect(refused).toMatchObject({ exit: 1, out: '' })
      expect(refused.err).toMatch(
        /^error SUBJECT_MATCHES_NOTHING: subject: must be a range without/,
      )
    }
    expect((await json('rates', 'history')).entries).toEqual([])
    await json('rates', 'add', '198.51.100.0/24', '0')
    const check = await run('check', 'Foos', 'ann', '--subject', '198.51.100.7:443')
    expect(check.exit).toBe(2)
  })

  test('a public suffix needs --force, and both answers say what it covers', async () => {
    const { run } = place()
    const refused = await run('rates', 'add', 'co.uk', '0')
    expect(refused).toMatchObject({ exit: 2, out: '' })
    expect(refused.err).toMatch(
      /^refused RateLimitTooWide: co\.uk: would cover every domain under co\.uk, a public suffix; /,
    )
    const forced = await run('rates', 'add', 'com', '0', '--force')
    expect(forced).toMatchObject({ exit: 0, out: expect.stringMatching(/^added /) })
    expect(forced.err).toBe('warning: covers every domain under com, a public suffix\n')
    expect((await run('check', 'Foos', 'ann', '--subject', 'x@evil.com')).exit).toBe(2)
  })

  test('query and history go page by page', async () => {
    const { run, json } = place()
    for (const subject of ['a.test', 'b.test']) await json('rates', 'add', subject, '2')
    await run('rates', 'add', '--label', 'vip', '--', 'c.test', '-1')
    const page = await run('rates', 'query', '--prefix', 'a', '--since', '1h')
    expect(page.out).toMatch(/^ID +SUBJECT +RATE +LABEL +EXPIRES +REASON\n\S+ +a\.test +2\n$/)
    expect((await json('rates', 'query', '--label', 'vip')).rates).toMatchObject([{ rate: -1 }])
    const first = await run('rates', 'history', '--limit', '2')
    const [, next = ''] = /^more: --after (\d+)$/m.exec(first.out) ?? []
    const rest = await json('rates', 'history', '--after', next)
    expect(rest.entries).toMatchObject([{ kind: 'add', added: [{ subject: 'c.test' }] }])
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
    [
      ['delegate', '--to', 'did:key:abc', '--can', 'rate-limit/add'],
      'PROOF_INVALID: to: must name an Ed25519 key, if it is a did:key, found "did:key:abc"',
    ],
    [['revoke', `baf${'y'.repeat(56)}`], 'FLAG_VALUE_MISSING: --proof: must be given'],
    [['revoke', 'nowhere.car'], 'FILE_UNREADABLE: FILE: must name a file'],
    [['proofs', 'show', 'headgate.yml'], 'PROOF_INVALID: proof: must be a CAR'],
  ])('%s is a mistake', async (words, message) => {
    const { exit, err } = await place().run(...words)
    expect([exit, err]).toEqual([1, expect.stringContaining(message)])
  })
})

describe('lists of rates', () => {
  const DECISIONS = 'duration,scope,value\n4h,ip,192.0.2.4\n4h,range,198.51.100.0/24\n'

  test('are imported all or not at all, compared, and exported as they can be imported', async () => {
    const { run, json, write } = place()
    write('list.csv', DECISIONS)
    const words = ['list.csv', '--label', 'crowdsec']
    const dry = await run('rates', 'import', ...words, '--dry-run')
    expect(dry.out).toBe('+ 192.0.2.4 0\n+ 198.51.100.0/24 0\n0 unchanged\n')
    expect((await run('rates', 'export')).out).toBe('subject,rate,expires,label,reason\n')
    const done = await run('rates', 'import', ...words)
    expect(done.out).toBe('2 added, 0 changed, 0 removed, 0 unchanged\n')
    const blocked = await run('check', 'Foos', 'ann', '--subject', '198.51.100.9')
    expect(blocked.exit).toBe(2)

    const exported = (await run('rates', 'export', '--label', 'crowdsec')).out
    write('own.csv', exported)
    const same = await run('rates', 'diff', 'own.csv', '--label', 'crowdsec')
    expect(same).toMatchObject({ exit: 0, out: '2 unchanged\n' })
    write('less.csv', `${exported.split('\n').slice(0, 2).join('\n')}\nb.test,1,,,\n`)
    const differs = await run('rates', 'diff', 'less.csv', '--label', 'crowdsec')
    expect(differs.exit).toBe(2)
    expect(differs.out).toMatch(/^\+ b\.test 1\n- \S+ 0\n1 unchanged\n$/)
    const pruned = await json('rates', 'import', 'less.csv', '--label', 'crowdsec', '--prune')
    expect(pruned).toMatchObject({ added: [{ subject: 'b.test' }], unchanged: 1, skipped: 0 })
    expect(pruned.removed).toHaveLength(1)
    expect((await run('rates', 'diff', 'less.csv', '--label', 'crowdsec')).exit).toBe(0)
  })

  test('with mistakes are told whole, and change nothing', async () => {
    const { run, write } = place()
    write('bad.csv', 'subject,rate\na.test,much\nb.test,0\nB.test,0\n192.0.2.7/24,0\n')
    const { exit, err } = await run('rates', 'import', 'bad.csv', '--label', 'x')
    expect(exit).toBe(1)
    expect(err).toContain('bad.csv:2: rate must be a number, found "much"\n')
    expect(err).toContain('bad.csv:4: names the subject of line 3 again\n')
    expect(err).toMatch(/^bad\.csv:5: subject: /m)
    expect(err).toMatch(/^error RATE_LIST_INVALID: bad\.csv: .+, found 3 mistakes$/m)
    expect((await run('rates', 'export')).out).toBe('subject,rate,expires,label,reason\n')
  })
})

describe('rates explain', () => {
  test('says what applies, through which form, by whose right, and how often it refused', async () => {
    const owner = place()
    await owner.run('rates', 'add', 'evil.test', '0', '--label', 'fraud', '--reason', 'spam')
    const { url } = await serveHere(['--log-level', 'warn'], { cwd: owner.path })
    const ask = ['check', 'Foos', 'ann', '--subject', 'x@mail.evil.test', '--server', url]
    for (let n = 0; n < 3; n++) expect((await owner.run(...ask)).exit).toBe(2)
    const words = ['rates', 'explain', 'X <x@mail.EVIL.test>']
    const told = await waitFor(async () => {
      const { out } = await owner.run(...words, '--server', url)
      return /3 times/.test(out) ? out : undefined
    })
    expect(told).toMatch(/^X <x@mail\.EVIL\.test>: blocked\n/)
    expect(told).toMatch(
      /^name:evil\.test +0 +3 times, last 20\S+ \S+ UTC +never +did:key:\S+ +fraud +spam/m,
    )
    const here = JSON.parse((await owner.run(...words, '--json')).out)
    expect(here.rates).toMatchObject([{ matched: 'name:evil.test', refused: { count: 3 } }])
    expect((await owner.run('rates', 'explain', 'good.test')).out).toBe(
      'good.test: no rate applies\n',
    )
  })
})

describe('on a server elsewhere', () => {
  const open = async (config = CONFIG) => {
    const owner = place(config)
    const { url } = await serveHere(['--log-level', 'warn'], { cwd: owner.path })
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

  test('the file of a proof is shown to people, warns when it is too narrow, and is enough to revoke it', async () => {
    const { url, grant, run, key } = await open()
    const [lead, helper] = [await newAgent(), await newAgent()]
    const first = join(lead.path, 'first.car')
    const terms = ['--can', 'rate-limit/add', '--subject', 'a.test', '--expires', '1h']
    const { cid, car } = await grant(lead.did, ...terms)
    writeFileSync(first, car)
    const handOn = (...more: string[]) =>
      lead.run('delegate', '--key', lead.key, '--proof', first, '--to', helper.did, ...more)
    const wide = await handOn('--can', 'rate-limit/remove', '--expires', '2h', '--json')
    expect(read(wide).warnings).toEqual([
      'it allows rate-limit/add, not rate-limit/remove',
      'it ends before what is handed on',
    ])
    const other = await handOn('--can', 'rate-limit/add', '--subject', 'b.test', '--expires', '1m')
    expect(other.err).toMatch(/^warning: the proof gives no such right: b\.test violates imposed/)
    const narrow = await handOn(...terms.slice(0, 4), '--expires', '1m', '--json')
    const { car: second, warnings } = read(narrow)
    expect(warnings).toBeUndefined()
    const file = join(helper.path, 'second.car')
    writeFileSync(file, Buffer.from(second, 'base64'))
    const shown = await helper.run('proofs', 'show', file)
    expect(shown.out).toMatch(
      /allows +rate-limit\/add on did:key:\S+ only with \{"subject":"a\.test"\}/,
    )
    expect(shown.out).toContain(`by right of  ${cid}`)
    expect(shown.out.match(/^signature +good$/gm)).toHaveLength(2)
    const revoked = await run('revoke', first, '--server', url, '--key', key)
    expect(revoked).toMatchObject({ exit: 0, out: expect.stringMatching(`^revoked ${first} at `) })
    const words = ['rates', 'add', 'a.test', '0', '--server', url, '--key', helper.key]
    expect((await helper.run(...words, '--proof', file)).err).toContain('revoked')
  })

  test('the proof goes to standard output as it is, and what it is to standard error', async () => {
    const { path, json } = place()
    const { did } = await newAgent()
    const words = ['--to', did, '--can', 'rate-limit/list', '--expires', '2030-01-31T12:00:00Z']
    const { exit, out, err } = await spawnHeadgate(['delegate', ...words], { cwd: path })
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
    const off = await serveHere([], { cwd: place(LIMITS).path })
    const unserved = await run('rates', 'list', 'a.test', '--server', off.url, '--key', agent.key)
    expect(unserved.err).toMatch(/^error SUBJECTS_OFF: /)
  })
})
