/** What a signer logs when it opens, what it does beside answering, and what it refuses before any domain. */
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { until } from '../../../test/support/cli.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { keyOptions, provideKey } from '../../../test/support/odis-process.ts'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { addressOfKey, ownerKey, samples, strangerKey } from '../../../test/support/odis-samples.ts'
import type { Store } from '../../core/store.ts'
import { days, span } from '../../core/time.ts'
import type { Timers } from '../../lib/poller.ts'
import { DOMAINS_PURPOSE, readAudit, saveKey } from '../../secrets/index.ts'
import { dealShares } from '../../secrets/poprf/index.ts'
import { audit } from '../../secrets/signer/audit.ts'
import { memory } from '../../stores/memory/index.ts'
import { sqlite } from '../../stores/sqlite/index.ts'
import { fakeClock } from '../../testing/index.ts'
import { SILENT } from '../app/log.ts'
import { readSignerSettings } from './config.ts'
import { refuseExposedSingleKey } from './files.ts'
import { createOuterLimit, type OpenSigner, openSigner, startAuditKeeper } from './open.ts'

const opened = async (folder: string, flags: Readonly<Record<string, string>> = {}) => {
  const warnings: object[] = []
  const errors: object[] = []
  const settings = readSignerSettings({
    flags: {
      store: `sqlite:${join(folder, 'signer.db')}`,
      ...keyOptions(folder),
      workers: '1',
      ...flags,
    },
  })
  const log = {
    ...SILENT,
    warn: (facts: object) => void warnings.push(facts),
    error: (facts: object) => void errors.push(facts),
  }
  return { signer: await openSigner(settings, log), warnings, errors }
}

const folderWithKeys = async (): Promise<string> => {
  const folder = temporaryFolder()
  await provideKey(folder)
  await provideKey(folder, 2)
  return folder
}

test('files with secrets that a group can read get one warning each, and are used', async () => {
  const folder = await folderWithKeys()
  const exposed = [join(folder, 'secret'), join(folder, 'keys/key-2.json')]
  for (const file of exposed) chmodSync(file, 0o640)
  const { signer, warnings } = await opened(folder)
  await signer.close()
  expect(warnings).toEqual(
    exposed.map((file) => ({
      code: 'KEY_FILE_SHARED',
      thing: `file ${file}`,
      rule: 'should be readable by its owner only (chmod 600)',
      finding: 'mode 640',
    })),
  )
})

test('a file with a secret that all can read stops the start', async () => {
  for (const name of ['secret', 'keys/key-1.json']) {
    const folder = await folderWithKeys()
    chmodSync(join(folder, name), 0o644)
    await expect(opened(folder)).rejects.toMatchObject({
      code: 'KEY_FILE_EXPOSED',
      thing: `file ${join(folder, name)}`,
    })
  }
})

/** From src/ no thread can start: what it would run is built into dist/. */
test('threads that break are logged and counted, and told apart from load', async () => {
  const folder = await folderWithKeys()
  const { signer: open, errors } = await opened(folder)
  const { signer, metrics, close } = open
  const body = Buffer.from(JSON.stringify(requestFor(samples('lost')['linear backoff'])))
  const answer = await signer.answer('sign', { body })
  expect([answer.status, JSON.parse(answer.body).error]).toEqual([
    503,
    'EVALUATOR_DOWN the evaluation failed',
  ])
  const text = await metrics.text()
  const counted = /headgate_signer_evaluator_failures_total\{code="EVALUATOR_LOST"\} (\d+)/.exec(
    text,
  )
  expect(Number(counted?.[1])).toBe(errors.length)
  expect(errors.length).toBeGreaterThan(0)
  expect(errors[0]).toMatchObject({ code: 'EVALUATOR_LOST' })
  expect(text).toContain('{endpoint="sign",outcome="EVALUATOR_DOWN"} 1')
  await close()
})

describe('domains by settings', () => {
  const status = async ({ signer }: OpenSigner, body: object): Promise<number> =>
    (await signer.answer('sign', { body: Buffer.from(JSON.stringify(body)) })).status
  const phone = samples('settings')['phone number']
  const byDevice = (session: string) => requestFor(phone, { key: strangerKey, session })

  test('those that are deprecated are 410', async () => {
    const folder = await folderWithKeys()
    const flags = { 'deprecated-domains': 'ODIS Linear Backoff Domain/1, ODIS Old Domain/3' }
    const { signer } = await opened(folder, flags)
    const linear = requestFor(samples('gone')['linear backoff'])
    expect(await status(signer, linear)).toBe(410)
    expect(await status(signer, { domain: { name: 'ODIS Old Domain', version: '3' } })).toBe(410)
    await signer.close()
  })

  test('a file says who signs for an account; a reload reads it again, or leaves everything as it was', async () => {
    const folder = await folderWithKeys()
    const file = join(folder, 'accounts.json')
    const write = (signers: readonly string[]) =>
      writeFileSync(
        file,
        JSON.stringify({ accounts: [{ account: addressOfKey(ownerKey), signers }] }),
      )
    write([])
    const { signer, errors } = await opened(folder, { 'phone-quota': '1', 'phone-accounts': file })
    expect(await status(signer, byDevice('a'))).toBe(401)
    write([addressOfKey(strangerKey)])
    await signer.reload()
    // Past its authentication: no thread can start here.
    expect(await status(signer, byDevice('b'))).toBe(503)
    writeFileSync(file, '{')
    await provideKey(folder, 3)
    errors.length = 0
    await expect(signer.reload()).rejects.toThrow('accounts.json')
    expect(errors.filter((facts) => 'versions' in facts)).toHaveLength(1)
    expect(signer.keys.current).toBe(2)
    expect(await status(signer, byDevice('c'))).toBe(503)
    await signer.close()
  })

  test('a storm of a thousand reloads reads the files twice', async () => {
    const folder = await folderWithKeys()
    const { signer } = await opened(folder)
    const running = signer.reload()
    await Promise.resolve()
    writeFileSync(join(folder, 'keys', 'key-2.json'), '{')
    const storm = Array.from({ length: 1_000 }, () => signer.reload().catch(() => 'refused'))
    expect(new Set(await Promise.all(storm))).toEqual(new Set(['refused']))
    await running.catch(() => {})
    // Not by errors in the log: from src/ the thread that evaluates cannot start, and tells that too.
    const counted = /key_reloads_total\{outcome="\w+"\} (\d+)/g
    const reloads = [...(await signer.metrics.text()).matchAll(counted)].map(([, n]) => Number(n))
    expect(reloads.reduce((sum, n) => sum + n, 0)).toBe(2)
    await signer.close()
  })

  test.each([
    ['without a quota', { 'phone-accounts': 'accounts.json' }],
    ['more for verified numbers, without a quota', { 'phone-verified-quota': '5' }],
    ['that is not there', { 'phone-quota': '1', 'phone-accounts': 'nowhere.json' }],
  ])('a file of accounts %s is refused at the start', async (_, flags) => {
    await expect(opened(await folderWithKeys(), flags)).rejects.toMatchObject({
      code: 'PHONE_ACCOUNTS_INVALID',
    })
  })
})

/** A database with one entry of the year 2024. */
const withOldEntry = async (folder: string): Promise<void> => {
  const clock = fakeClock('2024-01-01T00:00:00Z')
  const store = sqlite({ path: join(folder, 'signer.db'), clock })
  await store.transact(({ now }) => ({
    writes: [],
    appends: [audit(now, { event: 'signed', record: 'secrets/{a}/domain/ab' })],
    result: undefined,
  }))
  await store.close()
}

const kept = async ({ store }: OpenSigner): Promise<number> =>
  (await readAudit(store, '', 10)).entries.length

test('old audit entries are forgotten while a signer runs', async () => {
  const folder = await folderWithKeys()
  await withOldEntry(folder)
  const { signer } = await opened(folder)
  expect(signer.settings.keepAudit).toBe(days(90))
  await until(async () => (await kept(signer)) === 0)
  await signer.close()
})

test('or kept for good, by --audit-days forever', async () => {
  const folder = await folderWithKeys()
  await withOldEntry(folder)
  const { signer } = await opened(folder, { 'audit-days': 'forever' })
  // Nothing is looked at, so there is nothing to wait for.
  await signer.store.transact(() => ({ writes: [], appends: [], result: undefined }))
  expect(await kept(signer)).toBe(1)
  await signer.close()
})

const TRUSTED = {
  verdict: () => ({ trusted: true, offBy: span(0), basis: 'record' }) as const,
}

describe('the audit keeper', () => {
  /** Timers that go off when the test says so, and the delays they were set to. */
  const handTimers = () => {
    const delays: number[] = []
    let due: (() => void) | undefined
    const timers: Timers = {
      after: (delay, run) => {
        delays.push(delay)
        due = run
        return () => {
          due = undefined
        }
      },
    }
    return { timers, delays, isSet: () => due !== undefined, goOff: () => due?.() }
  }

  const settled = () => new Promise((resolve) => setImmediate(resolve))

  const note = (store: Store): Promise<void> =>
    store.transact(({ now }) => ({
      writes: [],
      appends: [audit(now, { event: 'signed', record: 'secrets/{a}/domain/ab' })],
      result: undefined,
    }))

  const kept = async (store: Store): Promise<number> =>
    (await readAudit(store, '', 100)).entries.length

  test('trims at once and every ten seconds, until it is stopped', async () => {
    const clock = fakeClock()
    const store = memory({ clock })
    await note(store)
    clock.advance(days(8))
    await note(store)
    const { timers, delays, isSet, goOff } = handTimers()
    const keeper = startAuditKeeper({ store, keep: days(7), log: SILENT, clock: TRUSTED, timers })
    await settled()
    expect(await kept(store)).toBe(1)
    clock.advance(days(8))
    goOff()
    await settled()
    expect(await kept(store)).toBe(0)
    expect(delays).toEqual([10_000, 10_000])
    await keeper.stop()
    expect(isSet()).toBe(false)
  })

  test('a store that is down is logged, and tried again', async () => {
    const clock = fakeClock()
    const store = memory({ clock })
    await note(store)
    clock.advance(days(8))
    let down = true
    const restless: Store = {
      ...store,
      read: (...page) => (down ? Promise.reject(new Error('the disk')) : store.read(...page)),
    }
    const warnings: string[] = []
    const log = { ...SILENT, warn: (_: object, message: string) => warnings.push(message) }
    const { timers, goOff } = handTimers()
    const keeper = startAuditKeeper({ store: restless, keep: days(7), log, clock: TRUSTED, timers })
    await settled()
    expect(warnings).toEqual(['old audit entries were not forgotten yet'])
    down = false
    goOff()
    await settled()
    expect(await kept(store)).toBe(0)
    await keeper.stop()
  })
})

describe('a whole key', () => {
  const single = { version: 2, kind: 'single', publicKey: '' } as const
  const share = { version: 1, kind: 'share', publicKey: '', index: 0 } as const

  test('a single key is refused where others reach it', () => {
    const use = { host: '0.0.0.0', allowSingleKey: false }
    expect(mistakeOf(() => refuseExposedSingleKey([share, single], use))).toMatchObject({
      code: 'SIGNER_SINGLE_KEY',
      finding: 'key version 2 is a single key',
    })
  })

  test('no signer opens with one, nor takes one at a reload', async () => {
    const exposed = { host: '0.0.0.0' }
    const code = { code: 'SIGNER_SINGLE_KEY' }
    const folder = await folderWithKeys()
    await expect(opened(folder, exposed)).rejects.toMatchObject(code)
    for (const version of [1, 2]) rmSync(join(folder, 'keys', `key-${version}.json`))
    const { shares, polynomial } = dealShares(2, 2)
    const share = {
      kind: 'share' as const,
      purpose: DOMAINS_PURPOSE,
      secret: shares[0] ?? new Uint8Array(),
      polynomial,
      publicKey: polynomial.slice(8, 104),
    }
    await saveKey(join(folder, 'keys'), new Uint8Array(32).fill(0x5a), share, 1)
    const { signer } = await opened(folder, exposed)
    await provideKey(folder, 2)
    await expect(signer.reload()).rejects.toMatchObject(code)
    expect(signer.keys.current).toBe(1)
    await signer.close()
  })

  test('loopback, the flag, and shares are not', () => {
    refuseExposedSingleKey([single], { host: '::1', allowSingleKey: false })
    refuseExposedSingleKey([single], { host: '0.0.0.0', allowSingleKey: true })
    refuseExposedSingleKey([share], { host: '0.0.0.0', allowSingleKey: false })
  })
})

describe('outer limits', () => {
  test('each address has its own bucket, and a whole IPv6 /64 has one', async () => {
    const ask = createOuterLimit({ perAddress: { count: 1, period: '1h' } })
    expect(await ask('192.0.2.1')).toEqual({ allowed: true })
    expect(await ask('192.0.2.1')).toMatchObject({ allowed: false })
    expect(await ask('::ffff:192.0.2.1')).toMatchObject({ allowed: false })
    expect(await ask('192.0.2.2')).toEqual({ allowed: true })
    expect(await ask('2001:db8::1')).toEqual({ allowed: true })
    expect(await ask('2001:db8::2')).toMatchObject({ allowed: false })
  })

  test('what an address may not ask is not counted against all', async () => {
    const ask = createOuterLimit({
      perAddress: { count: 1, period: '1h' },
      inAll: { count: 2, period: '1h' },
    })
    for (let i = 0; i < 5; i++) await ask('192.0.2.1')
    expect(await ask('192.0.2.2')).toEqual({ allowed: true })
    expect(await ask('192.0.2.3')).toMatchObject({ allowed: false })
  })

  test('no rates, no limits', async () => {
    const ask = createOuterLimit({})
    for (let i = 0; i < 100; i++) expect(await ask('192.0.2.1')).toEqual({ allowed: true })
  })
})
