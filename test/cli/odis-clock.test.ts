/** `headgate odis clock repair`, as typed, beside a signer that runs. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hours } from '../../src/core/time.ts'
import { clockKey } from '../../src/secrets/signer/clock-record.ts'
import { SHARDS } from '../../src/secrets/signer/shards.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { headgate, listenHere } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { askSigner, provideKey, signerWords } from '../support/odis-process.ts'
import { requestFor } from '../support/odis-requests.ts'
import { samples } from '../support/odis-samples.ts'
import { ROOT } from '../support/sources.ts'

/** From dist/: its worker threads run only what is built. */
const built: Promise<typeof import('../../src/cli/run.ts')> = import(`${ROOT}dist/cli/run.js`)

/** Five hours taken off the recorded offset look as if the clock had leapt five hours since. */
const leap = async (path: string): Promise<void> => {
  const store = sqlite({ path })
  await store.transact((view) => {
    const writes = SHARDS.map(clockKey).map((key) => {
      const [value = ''] = view.read(key)
      const [newest, line = ''] = value.split('\n')
      const [boot, offset, uptime] = line.split(' ')
      return { key, value: `${newest}\n${boot} ${Number(offset) - hours(5)} ${uptime}` }
    })
    return { writes, appends: [], result: undefined }
  })
  await store.close()
}

test('accepts the clock for a running signer that refuses to sign, once, and audits it', async () => {
  const cwd = temporaryFolder()
  await provideKey(cwd)
  const path = join(cwd, 'signer.db')
  const words = signerWords(cwd, '--workers', '1', '--log-level', 'warn')
  const signer = await listenHere(words, {}, (await built).runCommand)
  const sign = (session: string) =>
    askSigner(signer, 'sign', requestFor(samples('clock').peppered, { session }))
  expect((await sign('a')).status).toBe(200)

  await leap(path)
  const refused = await sign('b')
  expect(refused.status).toBe(503)
  expect(refused.body.error).toMatch(/^CLOCK_UNTRUSTED /)

  const repair = (...more: readonly string[]) =>
    headgate(['odis', 'clock', 'repair', '--store', `sqlite:${path}`, ...more], { cwd })
  const repaired = await repair()
  expect(repaired.exit).toBe(0)
  expect(repaired.out).toMatch(
    /^the clock was set ahead by 1800\d s since it was recorded; accepted as it is now, 20\S+ \S+ UTC\n$/,
  )
  expect((await sign('b')).status).toBe(200)

  expect((await repair()).out).toBe('the clock is trusted: nothing was changed\n')
  const now = expect.stringMatching(/^20\d\d-/)
  expect(JSON.parse((await repair('--json')).out)).toEqual({
    repaired: false,
    now,
    offBy: expect.closeTo(0, -1),
  })
  await leap(path)
  expect(JSON.parse((await repair('--json')).out)).toEqual({
    repaired: true,
    now,
    reason: 'leapt',
    offBy: expect.closeTo(18_000, -1),
  })
  const audit = await headgate(['odis', 'audit', '--store', `sqlite:${path}`], { cwd })
  expect(
    audit.out.match(/clock repaired +secrets\/\{0\}\/clock by 1(7999|800\d)[.\d]* s$/gm),
  ).toHaveLength(2)
})

test('makes no database where there is none', async () => {
  const cwd = temporaryFolder()
  const { exit, err } = await headgate(['odis', 'clock', 'repair'], { cwd })
  expect([exit, err]).toEqual([1, expect.stringContaining('FILE_UNREADABLE')])
  expect(readdirSync(cwd)).toEqual([])
})
