/** `headgate odis keygen`, `odis signer` and `odis audit`, as typed. */
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { domainHash } from '../../src/secrets/domains/index.ts'
import { DOMAINS_PURPOSE, saveKey } from '../../src/secrets/index.ts'
import { aggregate, blind, dealShares, unblind } from '../../src/secrets/poprf/index.ts'
import { headgate, listenHere, type RunningServer, spawnHeadgate, until } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import {
  askSigner,
  keyFlags,
  provideKey,
  signerWords,
  startSigner,
} from '../support/odis-process.ts'
import { requestFor } from '../support/odis-requests.ts'
import { samples } from '../support/odis-samples.ts'
import type { Served } from '../support/serve.ts'
import { ROOT } from '../support/sources.ts'

const sample = samples('cli')['sequential delay']
const linear = (salt: string) => samples(salt)['linear backoff']

/** From dist/: its worker threads run only what is built. */
const built: Promise<typeof import('../../src/cli/run.ts')> = import(`${ROOT}dist/cli/run.js`)

const signerIn = async (folder: string, ...more: readonly string[]): Promise<RunningServer> => {
  const words = signerWords(folder, '--workers', '1', '--log-level', 'warn', ...more)
  return listenHere(words, {}, (await built).runCommand)
}

/** The same as a process of its own. */
const spawnSigner = (folder: string): Promise<Served> => startSigner(folder, '--workers', '1')

const keygen = (folder: string) =>
  headgate(['odis', 'keygen', ...keyFlags(folder), '--new-secret'], { cwd: folder })

describe('keygen', () => {
  test('prints the public key in base64, and keeps the rest encrypted in files of mode 600', async () => {
    const cwd = temporaryFolder()
    const words = [
      'odis',
      'keygen',
      '--keys',
      'keys',
      '--key-secret',
      'file:secret',
      '--new-secret',
    ]
    const { exit, out } = await spawnHeadgate([...words, '--json'], { cwd })
    expect(exit).toBe(0)
    const made = JSON.parse(out)
    expect(made).toMatchObject({ version: 1, kind: 'single', purpose: 'odis-domains' })
    expect(Buffer.from(made.publicKey, 'base64')).toHaveLength(96)
    for (const file of [made.file, join(cwd, 'secret')]) {
      expect((statSync(file).mode & 0o777).toString(8)).toBe('600')
    }
    expect(readdirSync(join(cwd, 'keys'))).toEqual(['key-1.json'])
  })

  test('never writes over a key, nor over a secret', async () => {
    const cwd = temporaryFolder()
    await keygen(cwd)
    const words = ['odis', 'keygen', ...keyFlags(cwd)]
    const again = await headgate(words, { cwd })
    expect([again.exit, again.err]).toEqual([1, expect.stringContaining('KEY_VERSION_EXISTS')])
    const secret = await headgate([...words, '--key-version', '2', '--new-secret'], { cwd })
    expect([secret.exit, secret.err]).toEqual([1, expect.stringContaining('--new-secret')])
    expect(readdirSync(join(cwd, 'keys'))).toEqual(['key-1.json'])
  })

  test('writes nothing under a secret that does not open the keys that are there', async () => {
    const cwd = temporaryFolder()
    await keygen(cwd)
    const keys = ['--keys', join(cwd, 'keys')]
    const make = (version: string, source: string, ...more: string[]) =>
      headgate(
        ['odis', 'keygen', ...keys, '--key-version', version, '--key-secret', source, ...more],
        { cwd },
      )
    const other = await make('3', `command:printf ${'00'.repeat(32)}`)
    expect(other.exit).toBe(1)
    expect(other.err).toMatch(/KEY_UNDECIPHERABLE: key 1: .+, found another secret, or a file/)
    for (const [version, code] of [
      ['1', 'KEY_VERSION_EXISTS'],
      ['3', 'KEY_UNDECIPHERABLE'],
    ] as const) {
      const made = await make(version, 'file:secret-2', '--new-secret')
      expect([made.exit, made.err]).toEqual([1, expect.stringContaining(code)])
    }
    expect(readdirSync(cwd).sort()).toEqual(['keys', 'secret'])
    expect(readdirSync(join(cwd, 'keys'))).toEqual(['key-1.json'])
  })

  test('takes the secret from the environment or from a command', async () => {
    const cwd = temporaryFolder()
    const secret = '5a'.repeat(32)
    const make = (version: string, source: string) =>
      headgate(
        ['odis', 'keygen', '--keys', 'keys', '--key-secret', source, '--key-version', version],
        { cwd, env: { HEADGATE_ODIS_SECRET: secret } },
      )
    expect(await make('1', 'env:HEADGATE_ODIS_SECRET')).toMatchObject({ exit: 0 })
    expect(await make('2', `command:printf ${secret}`)).toMatchObject({ exit: 0 })
    const kept = readdirSync(join(cwd, 'keys')).map((name) =>
      readFileSync(join(cwd, 'keys', name), 'utf8'),
    )
    expect(kept).toHaveLength(2)
    for (const text of kept) expect(text).not.toContain('5a5a5a')
  })
})

test('keygen tells of a secret that a group can read, and refuses one that all can read', async () => {
  const cwd = temporaryFolder()
  await keygen(cwd)
  const make = (version: string) =>
    headgate(['odis', 'keygen', ...keyFlags(cwd), '--key-version', version], { cwd })
  chmodSync(join(cwd, 'secret'), 0o640)
  const told = await make('2')
  expect(told.exit).toBe(0)
  expect(told.err).toMatch(/^warning KEY_FILE_SHARED: file .+secret: .+, found mode 640\n$/)
  chmodSync(join(cwd, 'secret'), 0o644)
  const refused = await make('3')
  expect([refused.exit, refused.err]).toEqual([1, expect.stringContaining('KEY_FILE_EXPOSED')])
})

describe('a signer does not start', () => {
  const refused = async (...more: readonly string[]) => {
    const cwd = temporaryFolder()
    await provideKey(cwd)
    const { exit, err } = await headgate(['odis', 'signer', ...keyFlags(cwd), ...more], { cwd })
    expect(exit).toBe(1)
    return err
  }

  test('in memory', async () => {
    expect(await refused('--store', 'memory:')).toContain('SIGNER_STORE_VOLATILE')
  })

  test('with a single key where others reach it', async () => {
    expect(await refused('--host', '0.0.0.0')).toContain('SIGNER_SINGLE_KEY')
  })

  test('with a current key that is not there', async () => {
    expect(await refused('--current-key', '9')).toContain('KEY_VERSION_UNKNOWN')
  })

  test('without keys, or with another secret', async () => {
    const cwd = temporaryFolder()
    await provideKey(cwd)
    const run = (...flags: readonly string[]) => headgate(['odis', 'signer', ...flags], { cwd })
    expect((await run()).err).toContain('OPTION_INVALID: --keys')
    const other = 'command:printf '.concat('00'.repeat(32))
    const wrong = await run('--keys', join(cwd, 'keys'), '--key-secret', other)
    expect(wrong.err).toContain('KEY_UNDECIPHERABLE')
  })
})

describe('audit', () => {
  const ask = async (folder: string, ...more: readonly string[]) => {
    const words = ['odis', 'audit', '--store', `sqlite:${join(folder, 'signer.db')}`, ...more]
    return headgate(words, { cwd: folder })
  }

  test('shows what a running signer did, page by page', async () => {
    const folder = temporaryFolder()
    await provideKey(folder)
    const signer = await signerIn(folder)
    const peppered = samples('cli').peppered
    for (const session of ['a', 'b']) {
      await askSigner(signer, 'sign', requestFor(peppered, { session }))
    }
    await askSigner(signer, 'disable', requestFor(peppered, { endpoint: 'disable' }))
    const first = await ask(folder, '--limit', '2', '--json')
    expect(first.exit).toBe(0)
    const page = JSON.parse(first.out)
    const record = expect.stringMatching(/^secrets\/\{[0-9a-f]\}\/domain\/[0-9a-f]{64}$/)
    const placed = (position: number) => expect.stringMatching(new RegExp(`^[0-9a-f]-${position}$`))
    const at = expect.stringMatching(/^20\d\d-\d\d-\d\dT[\d:.]+Z$/)
    expect(page.entries).toEqual([
      { place: placed(1), at, event: 'signed', record, keyVersion: 1 },
      { place: placed(2), at, event: 'signed', record, keyVersion: 1 },
    ])
    const rest = await ask(folder, '--after', String(page.next), '--json')
    expect(JSON.parse(rest.out)).toEqual({
      entries: [{ place: placed(3), at, event: 'disabled', record: page.entries[0].record }],
      end: expect.any(String),
    })
    const { end } = JSON.parse(rest.out)
    expect(JSON.parse((await ask(folder, '--after', end, '--json')).out)).toEqual({
      entries: [],
      end,
    })
    const lines = (await ask(folder, '--limit', '1')).out.trimEnd().split('\n')
    expect(lines).toEqual([
      expect.stringMatching(/^PLACE +WHEN +EVENT +KEY +RECORD$/),
      expect.stringMatching(
        /^[0-9a-f]-1 +20\S+ \S+ UTC +signed +1 +secrets\/\{[0-9a-f]\}\/domain\/[0-9a-f]{64}$/,
      ),
      expect.stringMatching(/^more: --after \.*1\.*$/),
    ])
  })

  test('says none where nothing was done', async () => {
    const folder = temporaryFolder()
    await provideKey(folder)
    await signerIn(folder)
    expect(await ask(folder)).toMatchObject({ exit: 0, out: 'none\n' })
  })

  test('makes no database, and reads none that forgets', async () => {
    const cwd = temporaryFolder()
    const absent = await headgate(['odis', 'audit'], { cwd })
    expect([absent.exit, absent.err]).toEqual([1, expect.stringContaining('FILE_UNREADABLE')])
    expect(readdirSync(cwd)).toEqual([])
    const volatile = await headgate(['odis', 'audit', '--store', 'memory:'], { cwd })
    expect(volatile.err).toContain('SIGNER_STORE_VOLATILE')
  })

  test('takes no empty file for a database, nor the database of a server for that of a signer', async () => {
    const cwd = temporaryFolder()
    const empty = join(cwd, 'signer.db')
    writeFileSync(empty, '')
    const refused = await ask(cwd)
    expect([refused.exit, refused.err]).toEqual([
      1,
      expect.stringMatching(/FILE_UNREADABLE: --store: .+, found an empty file at /),
    ])
    expect(readdirSync(cwd)).toEqual(['signer.db'])
    expect(statSync(empty).size).toBe(0)
    rmSync(empty)
    const limits = 'limits: { Foos: { id: opaque, burst: 9, count: 9, period: 1h } }\n'
    writeFileSync(join(cwd, 'headgate.yml'), `${limits}store: sqlite:./signer.db\n`)
    const spent = await headgate(['spend', 'Foos', 'ann', '--config', 'headgate.yml'], { cwd })
    expect(spent.exit).toBe(0)
    const other = await ask(cwd)
    expect([other.exit, other.err]).toEqual([1, expect.stringContaining('nothing of a signer')])
  })

  test.each([
    ['--limit', '0'],
    ['--limit', '1001'],
    ['--limit', '1.5'],
    ['--after', 'x'],
    ['--after', '99999999999999999'],
  ])('refuses %s %s', async (flag, value) => {
    const { exit, err } = await ask(temporaryFolder(), flag, value)
    expect([exit, err]).toEqual([1, expect.stringContaining(`FLAG_VALUE_INVALID: ${flag}`)])
  })
})

describe('a signer', () => {
  test('signs, tells when to come back, and counts on after a restart', async () => {
    const folder = temporaryFolder()
    await provideKey(folder)
    const first = await spawnSigner(folder)
    expect(await (await fetch(`${first.url}/status`)).json()).toEqual({
      version: expect.any(String),
    })
    const sign = (signer: Pick<Served, 'url'>, nonce: number) =>
      askSigner(signer, 'sign', requestFor(sample, { nonce }))
    const answer = await sign(first, 0)
    expect(answer.status).toBe(200)
    expect(Buffer.from(answer.body.signature ?? '', 'base64')).toHaveLength(1152)
    await first.child.kill('SIGTERM')
    expect(await first.child.ended).toBe(0)
    const second = await signerIn(folder)
    expect((await sign(second, 1)).body.status).toMatchObject({ counter: 2 })
    const refused = await sign(second, 2)
    expect(refused.status).toBe(429)
    const wait = Number(refused.headers['retry-after'])
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60)
  })

  test('both engines give the same bytes', async () => {
    const folder = temporaryFolder()
    await provideKey(folder)
    const body = requestFor(sample, { nonce: 0 })
    const signatures = []
    for (const engine of ['wasm', 'typescript']) {
      const signer = await signerIn(folder, '--engine', engine)
      signatures.push((await askSigner(signer, 'sign', body)).body.signature)
    }
    expect(signatures[0]).toHaveLength(1536)
    expect(signatures[1]).toBe(signatures[0])
  })

  test('rotates: the highest version answers unless a request names another', async () => {
    const folder = temporaryFolder()
    await provideKey(folder)
    await provideKey(folder, 2)
    const signer = await signerIn(folder)
    const domain = linear('cli')
    const versionFor = async (session: string, headers = {}) =>
      (await askSigner(signer, 'sign', requestFor(domain, { session }), headers)).headers[
        'odis-key-version'
      ]
    expect(await versionFor('a')).toBe('2')
    expect(await versionFor('b', { 'odis-key-version': '1' })).toBe('1')
    const unknown = { 'odis-key-version': '3' }
    const answer = await askSigner(signer, 'sign', requestFor(domain, { session: 'c' }), unknown)
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain('KEY_VERSION_INVALID')
  })

  test('has outer limits unless told otherwise, in both conducts', async () => {
    const folder = temporaryFolder()
    await provideKey(folder)
    for (const conduct of ['cip40', 'celo']) {
      const flags = ['--limit-per-address', '2/1h', '--conduct', conduct]
      const signer = await signerIn(folder, ...flags)
      const answers = []
      for (let i = 0; i < 3; i++) answers.push(await askSigner(signer, 'quotaStatus', {}))
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 429])
      expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThan(0)
      expect(answers[2]?.body).toMatchObject({ success: false, version: expect.any(String) })
    }
  })

  test('says 503 and when to come back while too many evaluations wait, and charges nothing', async () => {
    const folder = temporaryFolder()
    await provideKey(folder)
    const signer = await signerIn(folder, '--queue', '1')
    const domains = Array.from({ length: 8 }, (_, i) => linear(`busy ${i}`))
    const answers = await Promise.all(
      domains.map((domain) => askSigner(signer, 'sign', requestFor(domain))),
    )
    const busy = answers.filter(({ status }) => status === 503)
    expect(busy.length).toBeGreaterThan(0)
    for (const { headers, body } of busy) {
      expect(headers['retry-after']).toBe('1')
      expect(body).toMatchObject({ success: false, error: expect.stringMatching(/^SIGNER_BUSY /) })
    }
    for (const [i, { status }] of answers.entries()) {
      const domain = domains[i] ?? sample
      const quota = await askSigner(signer, 'quotaStatus', requestFor(domain, STATUS))
      expect(quota.body.status?.['remaining']).toBe(status === 200 ? 1 : 2)
    }
  })

  test('finishes what it has accepted when it is told to end', async () => {
    const folder = temporaryFolder()
    await provideKey(folder)
    const signer = await spawnSigner(folder)
    const sign = (salt: string) => askSigner(signer, 'sign', requestFor(linear(salt)))
    await sign('warm')
    const pending = ['a', 'b', 'c', 'd'].map(sign)
    await until(async () => {
      const text = await (await fetch(`${signer.url}/metrics`)).text()
      return text.includes('headgate_signer_evaluations_total 5')
    })
    signer.child.process.kill('SIGTERM')
    const answers = await Promise.all(pending)
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(await signer.child.ended).toBe(0)
  })

  test('with a share answers a combiner: as many parts as the threshold make the whole', async () => {
    const { shares, polynomial } = dealShares(3, 2)
    const publicKey = polynomial.slice(8, 104)
    const { blindedMessage, blindingFactor } = blind(new TextEncoder().encode('123456'))
    const domain = linear('cli')
    const message = Buffer.from(blindedMessage).toString('base64')
    const body = { ...requestFor(domain), blindedMessage: message }
    const parts: Uint8Array[] = []
    for (const secret of shares.slice(1)) {
      const folder = temporaryFolder()
      writeFileSync(join(folder, 'secret'), '5a'.repeat(32), { mode: 0o600 })
      const purpose = DOMAINS_PURPOSE
      const key = { kind: 'share', purpose, secret, polynomial, publicKey } as const
      await saveKey(join(folder, 'keys'), new Uint8Array(32).fill(0x5a), key, 1)
      // A share may listen anywhere.
      const signer = await signerIn(folder, '--host', '0.0.0.0')
      const { signature = '' } = (await askSigner(signer, 'sign', body)).body
      parts.push(Uint8Array.from(Buffer.from(signature, 'base64')))
    }
    expect(parts.map(({ length }) => length)).toEqual([1156, 1156])
    const context = { ...domain.domain, name: 'ODIS Linear Backoff Domain', version: '1' }
    const tag = domainHash(context)
    const response = aggregate(2, parts)
    expect(unblind(publicKey, { blindingFactor, tag, response })).toHaveLength(32)
  })

  test('knows phone numbers and contracts only where it was told of a source', async () => {
    const folder = temporaryFolder()
    await provideKey(folder)
    const phone = samples('cli')['phone number']
    const ask = (signer: RunningServer) =>
      askSigner(signer, 'quotaStatus', requestFor(phone, STATUS))
    expect((await ask(await signerIn(folder))).body.error).toContain('DOMAIN_UNKNOWN')
    expect((await ask(await signerIn(folder, '--phone-quota', '2'))).status).toBe(200)
  })
})

const STATUS = { endpoint: 'quotaStatus' } as const
