/** `headgate odis keys import`, as typed, and SIGHUP, which reads keys again while a signer runs. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runCommand } from '../../src/cli/run.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { publicKeyText, readKeySecret } from '../../src/secrets/index.ts'
import { loadKeys } from '../../src/secrets/keys/key-ring.ts'
import { dealShares, generatePrivateKey, publicKeyOf } from '../../src/secrets/poprf/index.ts'
import { headgate, until } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { askSigner, keyFlags, provideKey, startSigner } from '../support/odis-process.ts'
import { requestFor } from '../support/odis-requests.ts'
import { withQuota } from '../support/odis-samples.ts'
import { ROOT } from '../support/sources.ts'

const dealt = dealShares(3, 2)
const [share = new Uint8Array()] = dealt.shares
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const groupKey = dealt.polynomial.slice(8, 104)
const POLYNOMIAL = ['--polynomial', hex(dealt.polynomial)]

/** A folder with a secret, and the text in a file of mode 600. */
const folderWith = (text: string): string => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'secret'), '5a'.repeat(32), { mode: 0o600 })
  writeFileSync(join(folder, 'share'), text, { mode: 0o600 })
  return folder
}

const importIn = (cwd: string, ...more: readonly string[]) =>
  headgate(['odis', 'keys', 'import', ...keyFlags(cwd), '--json', ...more], { cwd })

const opened = async (folder: string) => {
  const secret = await readKeySecret({ from: 'file', path: join(folder, 'secret') })
  return loadKeys(join(folder, 'keys'), secret)
}

describe('keys import', () => {
  test.each([
    ['72 hex digits, as secret managers keep it', hex(share)],
    ['with 0x and a line end', `0x${hex(share).toUpperCase()}\n`],
    ['base64', base64(share)],
  ])('takes a share: %s', async (_, text) => {
    const cwd = folderWith(text)
    const done = await importIn(cwd, 'share', '--key-version', '3', ...POLYNOMIAL)
    expect(done).toMatchObject({ exit: 0, err: '' })
    expect(JSON.parse(done.out)).toEqual({
      version: 3,
      kind: 'share',
      purpose: 'odis-domains',
      publicKey: base64(groupKey),
      file: join(cwd, 'keys/key-3.json'),
    })
    expect(done.out).not.toContain(hex(share).slice(8))
    const ring = await opened(cwd)
    expect(hex(ring.find(3)?.secret ?? new Uint8Array())).toBe(hex(share))
    expect(ring.notices).toEqual([
      { version: 3, kind: 'share', publicKey: base64(groupKey), index: 1 },
    ])
  })

  test('takes what a ceremony of Celo wrote, with its polynomial', async () => {
    const publicPolynomial = hex(dealt.polynomial)
    const text = JSON.stringify({ publicKey: hex(groupKey), publicPolynomial, share: hex(share) })
    const cwd = folderWith(text)
    expect(await importIn(cwd, 'share', '--key-version', '1')).toMatchObject({ exit: 0 })
    expect((await opened(cwd)).notices).toMatchObject([{ kind: 'share', index: 1 }])
  })

  test('takes a whole key, from standard input too', () => {
    const key = generatePrivateKey()
    const cwd = folderWith('')
    const words = ['odis', 'keys', 'import', '-', ...keyFlags(cwd), '--key-version', '1', '--json']
    const main = join(ROOT, 'dist/cli/main.js')
    const { status, stdout } = spawnSync(process.execPath, [main, ...words], { input: hex(key) })
    expect(status).toBe(0)
    expect(JSON.parse(String(stdout))).toMatchObject({
      kind: 'single',
      publicKey: publicKeyText({ publicKey: publicKeyOf(key) }),
    })
  })

  test('takes a key file of Headgate, which says its version, and encrypts it anew', async () => {
    const from = temporaryFolder()
    const publicKey = await provideKey(from, 4)
    const cwd = temporaryFolder()
    const source = ['--from-secret', `file:${join(from, 'secret')}`]
    const done = await importIn(cwd, join(from, 'keys/key-4.json'), ...source, '--new-secret')
    expect(done).toMatchObject({ exit: 0 })
    expect(JSON.parse(done.out)).toMatchObject({ version: 4, publicKey })
    expect((await opened(cwd)).notices).toMatchObject([{ version: 4, publicKey }])
    expect(readFileSync(join(cwd, 'secret'), 'utf8')).not.toContain('5a5a')
  })

  test.each([
    ['a share without its polynomial', hex(share), [], 'KEY_IMPORT_INVALID'],
    [
      'a share under another polynomial',
      hex(share),
      ['--polynomial', hex(dealShares(2, 2).polynomial)],
      'KEY_INCONSISTENT',
    ],
    ['half a share', hex(share).slice(0, 70), POLYNOMIAL, 'KEY_IMPORT_INVALID'],
    ['a whole key with a polynomial', hex(generatePrivateKey()), POLYNOMIAL, 'KEY_IMPORT_INVALID'],
    ['a share of no number below the order', 'ff'.repeat(36), POLYNOMIAL, 'POPRF_'],
    ['a polynomial of other text', hex(share), ['--polynomial', 'not one'], 'KEY_IMPORT_INVALID'],
    ['JSON of something else', '{"secret": "5a5a"}', [], 'FIELD_'],
    ['JSON that was cut off', `{"share": "${hex(share)}`, [], 'KEY_IMPORT_INVALID'],
    ['JSON without quotes', `{"share": ${hex(share)}}`, [], 'KEY_IMPORT_INVALID'],
    ['a share as a name', `{"${hex(share)}": 1}`, [], 'KEY_IMPORT_INVALID'],
    ['nothing', '', POLYNOMIAL, 'KEY_IMPORT_INVALID'],
  ])('refuses %s, writes nothing and repeats nothing of it', async (_, text, flags, code) => {
    const cwd = folderWith(text)
    const { exit, out, err } = await importIn(cwd, 'share', '--key-version', '1', ...flags)
    expect([exit, out, err]).toEqual([1, '', expect.stringContaining(code)])
    expect(existsSync(join(cwd, 'keys'))).toBe(false)
    if (text.length > 40) expect(err).not.toContain(text.slice(10, 30))
    expect(err).not.toContain(hex(share).slice(8, 16))
  })

  test('never writes over a version, and wants one named', async () => {
    const cwd = folderWith(hex(share))
    const first = await importIn(cwd, 'share', '--key-version', '1', ...POLYNOMIAL)
    expect(first.exit).toBe(0)
    const again = await importIn(cwd, 'share', '--key-version', '1', ...POLYNOMIAL)
    expect([again.exit, again.err]).toEqual([1, expect.stringContaining('KEY_VERSION_EXISTS')])
    const unnamed = await importIn(cwd, 'share', ...POLYNOMIAL)
    expect([unnamed.exit, unnamed.err]).toEqual([1, expect.stringContaining('--key-version')])
    expect(readdirSync(join(cwd, 'keys'))).toEqual(['key-1.json'])
  })

  test('a share as an argument is refused, and not repeated', async () => {
    const cwd = folderWith('')
    const { exit, err } = await importIn(cwd, hex(share), '--key-version', '1', ...POLYNOMIAL)
    expect([exit, err]).toEqual([1, expect.stringContaining('a key is never an argument')])
    expect(err).not.toContain(hex(share).slice(0, 12))
  })

  test('a file that others can read is refused, and one that is not there', async () => {
    const cwd = folderWith(hex(share))
    chmodSync(join(cwd, 'share'), 0o644)
    const exposed = await importIn(cwd, 'share', '--key-version', '1', ...POLYNOMIAL)
    expect([exposed.exit, exposed.err]).toEqual([1, expect.stringContaining('KEY_FILE_EXPOSED')])
    const none = await importIn(cwd, 'nowhere', '--key-version', '1', ...POLYNOMIAL)
    expect([none.exit, none.err]).toEqual([1, expect.stringContaining('ENOENT')])
  })
})

describe('SIGHUP', () => {
  test('has a signer read its keys again; a broken one leaves those that were', async () => {
    const folder = temporaryFolder()
    await provideKey(folder)
    const signer = await startSigner(folder, '--workers', '1')
    const sample = withQuota('reload', 9)
    const usedKey = async (nonce: number) =>
      (await askSigner(signer, 'sign', requestFor(sample, { nonce }))).headers['odis-key-version']
    const reloads = async (outcome: string, count: number) => {
      signer.child.process.kill('SIGHUP')
      const line = `headgate_signer_key_reloads_total{outcome="${outcome}"} ${count}`
      await until(async () => (await (await fetch(`${signer.url}/metrics`)).text()).includes(line))
    }
    expect(await usedKey(0)).toBe('1')
    await provideKey(folder, 2)
    await reloads('loaded', 1)
    expect(await usedKey(1)).toBe('2')
    writeFileSync(join(folder, 'keys/key-3.json'), '{', { mode: 0o600 })
    await reloads('refused', 1)
    expect(await usedKey(2)).toBe('2')
    for (const version of [2, 3]) rmSync(join(folder, `keys/key-${version}.json`))
    await reloads('loaded', 2)
    expect(await usedKey(3)).toBe('1')
    const text = await (await fetch(`${signer.url}/metrics`)).text()
    expect(text.match(/headgate_signer_key_info\{.*/g)).toEqual([
      'headgate_signer_key_info{version="1",kind="single",current="true"} 1',
    ])
  })

  // Neither opens here: there is no such file and no such directory. The signal is listened to before.
  test.each([
    ['serve', '--config', 'nowhere.yml'],
    ['odis', 'signer', '--keys', 'nowhere', '--key-secret', `command:printf ${'5a'.repeat(32)}`],
  ])('ends neither %s %s nor any other that has not opened yet', async (...words) => {
    let listening = false
    const signals = {
      onReload: () => {
        listening = true
      },
      ended: () => new Promise<string>(() => {}),
    }
    const terminal = { out: () => {}, bytes: () => {}, err: () => {}, log: { write: () => {} } }
    const surroundings = { environment: {}, terminal, clock: systemClock, signals }
    expect(await runCommand(words, surroundings)).toBe(1)
    expect(listening).toBe(true)
  })
})
