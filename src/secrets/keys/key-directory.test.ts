/** Who may write the key directory, and what a reload takes from it while a signer runs. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { mistakeOfPromise } from '../../../test/support/mistake-of-promise.ts'
import { dealShares } from '../poprf/index.ts'
import { DOMAINS_PURPOSE, generateKey, type ShareKey } from './key.ts'
import { saveKey } from './key-directory.ts'
import { liveKeys, loadKeys } from './key-ring.ts'

const secret = new Uint8Array(32).fill(0x5a)
const single = generateKey()
const dealt = dealShares(2, 2)

const shareAt = (index: number): ShareKey => ({
  kind: 'share',
  purpose: DOMAINS_PURPOSE,
  secret: dealt.shares[index] ?? new Uint8Array(),
  polynomial: dealt.polynomial,
  publicKey: dealt.polynomial.slice(8, 104),
})

/** A directory with key 1, two folders deep. */
const someDirectory = async (key: typeof single | ShareKey = single): Promise<string> => {
  const directory = join(temporaryFolder(), 'signer', 'keys')
  await saveKey(directory, secret, key, 1)
  return directory
}

const load = (directory: string) => () => loadKeys(directory, secret)

/** Modes are not for Windows. */
describe.skipIf(process.platform === 'win32')('a directory that others can write', () => {
  const exposed = { code: 'KEY_DIRECTORY_EXPOSED' }

  test.each([
    ['its group', 0o770],
    ['all', 0o707],
    ['all, where they cannot rename', 0o1777],
  ])('%s: is neither read nor written', async (_, mode) => {
    const directory = await someDirectory()
    chmodSync(directory, mode)
    const finding = `mode ${mode.toString(8)}`
    expect(await mistakeOfPromise(load(directory)())).toMatchObject({ ...exposed, finding })
    const saving = saveKey(directory, secret, generateKey(), 2)
    expect(await mistakeOfPromise(saving)).toMatchObject(exposed)
    expect(readdirSync(directory)).toEqual(['key-1.json'])
  })

  test('one that others can read is used: the keys in it are encrypted, and their names no secret', async () => {
    const directory = await someDirectory()
    chmodSync(directory, 0o755)
    expect((await load(directory)()).current).toBe(1)
  })

  test('so is one in which anyone could put another in its place', async () => {
    const directory = await someDirectory()
    const above = join(directory, '..')
    chmodSync(above, 0o777)
    expect(await mistakeOfPromise(load(directory)())).toMatchObject(exposed)
    // As in /tmp, where names belong to their owners; and in a volume that a group may write.
    for (const mode of [0o1777, 0o2775]) {
      chmodSync(above, mode)
      expect((await load(directory)()).current).toBe(1)
    }
  })

  test('a link does not hide it', async () => {
    const directory = await someDirectory()
    chmodSync(directory, 0o777)
    const link = join(temporaryFolder(), 'keys')
    symlinkSync(directory, link)
    expect(await mistakeOfPromise(load(link)())).toMatchObject(exposed)
  })

  test.each([
    ['the link itself', ''],
    ['a link above it', 'signer'],
  ])('nor does a link that anyone could put elsewhere: %s', async (_, part) => {
    const directory = await someDirectory()
    const open = join(temporaryFolder(), 'open')
    mkdirSync(open)
    const target = part === '' ? directory : join(directory, '..')
    symlinkSync(target, join(open, 'link'))
    // A second link, in a directory of one's own, leads there.
    const near = join(temporaryFolder(), 'near')
    symlinkSync(join(open, 'link'), near)
    const way = part === '' ? near : join(near, 'keys')
    chmodSync(open, 0o777)
    const finding = `${open}, mode 777`
    expect(await mistakeOfPromise(load(way)())).toMatchObject({ ...exposed, finding })
    chmodSync(open, 0o1777)
    expect((await load(way)()).current).toBe(1)
  })

  test('a new directory is checked before a key is written into it', async () => {
    const open = join(temporaryFolder(), 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    const saving = saveKey(join(open, 'keys'), secret, single, 1)
    expect(await mistakeOfPromise(saving)).toMatchObject(exposed)
    expect(readdirSync(join(open, 'keys'))).toEqual([])
  })

  // Only root can give a directory away.
  test.skipIf(process.geteuid?.() !== 0)(
    'one that belongs to another user is refused',
    async () => {
      const directory = await someDirectory()
      chownSync(directory, 65_534, 65_534)
      const finding = 'owner 65534'
      expect(await mistakeOfPromise(load(directory)())).toMatchObject({ ...exposed, finding })
    },
  )
})

describe('a reload', () => {
  test('takes new versions, lets go of those that are gone, and wipes these', async () => {
    const directory = await someDirectory()
    const ring = await liveKeys(load(directory))
    const first = ring.find(1)
    await saveKey(directory, secret, generateKey(), 2)
    expect(await ring.reload()).toEqual({ added: [2], removed: [] })
    expect([ring.current, ring.notices.map(({ version }) => version)]).toEqual([2, [1, 2]])
    rmSync(join(directory, 'key-1.json'))
    const second = ring.find(1)
    expect(await ring.reload()).toEqual({ added: [], removed: [1] })
    expect(ring.find(1)).toBeUndefined()
    for (const gone of [first, second]) expect(gone?.secret.every((byte) => byte === 0)).toBe(true)
  })

  test.each([
    [
      'a file that cannot be read',
      (directory: string) => writeFileSync(join(directory, 'key-2.json'), '{', { mode: 0o600 }),
    ],
    ['no key at all', (directory: string) => rmSync(join(directory, 'key-1.json'))],
    ['a directory that others can write', (directory: string) => chmodSync(directory, 0o777)],
  ])('%s: everything stays as it was', async (_, spoil) => {
    const directory = await someDirectory()
    const ring = await liveKeys(load(directory))
    spoil(directory)
    await expect(ring.reload()).rejects.toThrow()
    expect(ring.find(1)).toEqual(single)
    expect(ring.current).toBe(1)
  })

  test.each([
    ['another single key', single, generateKey()],
    ['a share instead', single, shareAt(0)],
    ['another share of the same key', shareAt(0), shareAt(1)],
  ])('%s under a version that is in use is refused', async (_, before, after) => {
    const directories = [await someDirectory(before), await someDirectory(after)]
    const found: (typeof single | ShareKey | undefined)[] = []
    const ring = await liveKeys(async () => {
      const next = await loadKeys(directories.shift() ?? '', secret)
      found.push(next.find(1))
      return next
    })
    expect(await mistakeOfPromise(ring.reload())).toMatchObject({
      code: 'KEY_VERSION_CHANGED',
      thing: 'key version 1',
    })
    expect(ring.find(1)).toEqual(before)
    // What was opened in vain does not stay in memory.
    expect(found[1]?.secret.every((byte) => byte === 0)).toBe(true)
  })

  test('a version that was gone comes back as the same key, and as no other', async () => {
    const directory = await someDirectory()
    const ring = await liveKeys(load(directory))
    await saveKey(directory, secret, generateKey(), 2)
    rmSync(join(directory, 'key-1.json'))
    await ring.reload()
    await saveKey(directory, secret, generateKey(), 1)
    expect(await mistakeOfPromise(ring.reload())).toMatchObject({ code: 'KEY_VERSION_CHANGED' })
    expect(ring.find(1)).toBeUndefined()
    rmSync(join(directory, 'key-1.json'))
    await saveKey(directory, secret, single, 1)
    expect(await ring.reload()).toEqual({ added: [1], removed: [] })
  })

  test('the newest of two at once wins, and one after the end opens nothing', async () => {
    const directory = await someDirectory()
    const ring = await liveKeys(load(directory))
    const one = ring.reload()
    await saveKey(directory, secret, generateKey(), 2)
    await Promise.all([one, ring.reload()])
    expect(ring.current).toBe(2)
    ring.wipe()
    await ring.reload()
    expect(ring.find(1)).toBeUndefined()
  })
})
