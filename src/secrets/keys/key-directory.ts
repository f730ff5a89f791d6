/** The key directory: one file for each version, `key-1.json`, written once and never overwritten. */
import { randomBytes } from 'node:crypto'
import {
  access,
  constants,
  link,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  stat,
  unlink,
} from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { systemCode } from '../../core/errors.ts'
import { checkSecretFile, type SecretFileListener } from '../../documents/secret-file.ts'
import { MAX_KEY_VERSION, refuseKey, type SignerKey } from './key.ts'
import { formatKeyFile, type KeyFile, MAX_KEY_FILE_BYTES, parseKeyFile } from './key-file.ts'
import type { KeySecret } from './key-secret.ts'
import { checkOpens, sealKey } from './seal.ts'

/** A key a month for five years. Old ones are deleted when nothing depends on them. */
export const MAX_KEYS = 64

/**
 * Durable before it resolves, and all or nothing. A version that exists is refused, not replaced:
 * every answer given under it would be lost. Refuses what `checkNewKey` refuses.
 */
export const saveKey = async (
  directory: string,
  secret: KeySecret,
  key: SignerKey,
  version: number,
): Promise<void> => {
  const text = formatKeyFile(sealKey(key, version, secret))
  await checkNewKey(directory, secret, version)
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((error) =>
    unusable(directory, error),
  )
  await checkDirectory(directory)
  const draft = join(directory, `.draft-${randomBytes(8).toString('hex')}`)
  try {
    await writeDraft(draft, text)
    await link(draft, join(directory, nameOf(version)))
    await syncDirectory(directory)
  } catch (error) {
    if (systemCode(error) === 'EEXIST') refuseExisting(directory, version)
    unusable(directory, error)
  } finally {
    await unlink(draft).catch(() => undefined)
  }
}

/**
 * Whether a key could be saved, before anything is written: its version is new, there is room, and the
 * secret opens all keys that are there. A signer opens them all with one secret, or does not start.
 */
export const checkNewKey = async (
  directory: string,
  secret: KeySecret,
  version: number,
): Promise<void> => {
  const files = (await isThere(directory)) ? await readKeyFiles(directory) : []
  if (files.some((file) => file.version === version)) refuseExisting(directory, version)
  if (files.length >= MAX_KEYS) refuseFull(directory, files.length + 1)
  for (const file of files) checkOpens(file, secret)
}

/** In the order of their versions. Files not called `key-…` are ignored. */
export const readKeyFiles = async (
  directory: string,
  onShared?: SecretFileListener,
): Promise<readonly KeyFile[]> => {
  await checkDirectory(directory)
  const names = await readdir(directory).catch((error) => unusable(directory, error))
  const keys = names.filter((name) => name.startsWith('key-'))
  if (keys.length > MAX_KEYS) refuseFull(directory, keys.length)
  const files: KeyFile[] = []
  for (const name of keys) files.push(await readKeyFile(directory, name, onShared))
  return files.sort((one, other) => one.version - other.version)
}

/** Writing by the group, and by all. */
const WRITABLE = 0o022
const WRITABLE_BY_ALL = 0o002

/** In such a directory, as /tmp, no one can rename what is another's. */
const STICKY = 0o1000

/**
 * Refuses a directory that others can write: they could take keys away, or bring a retired one back.
 * Of those on the way to it, by links too, only one that all can write: there anyone could put another
 * in its place. A group may write those, as it does in volumes that containers mount. What is mounted
 * read-only no one writes, whatever its mode: so secrets come into containers, in directories open to all.
 */
async function checkDirectory(directory: string): Promise<void> {
  // Windows has no such bits, and Node makes some up: there the folder's own rules must do.
  if (process.platform === 'win32') return
  const path = await realpath(directory).catch((error) => unusable(directory, error))
  if (await isReadOnly(path)) return
  const { mode, uid } = await stat(path).catch((error) => unusable(path, error))
  const own = process.geteuid?.()
  if (uid !== 0 && uid !== own) {
    refuseExposed(path, `must belong to this user (chown ${own}) or to root`, `owner ${uid}`)
  }
  if ((mode & WRITABLE) !== 0) {
    refuseExposed(path, 'must be writable by its owner alone (chmod 700)', modeText(mode))
  }
  for (const above of await directoriesOnTheWay(directory)) {
    const { mode } = await stat(above).catch((error) => unusable(above, error))
    if ((mode & WRITABLE_BY_ALL) !== 0 && (mode & STICKY) === 0) {
      refuseExposed(
        path,
        `must be in no directory that all can write`,
        `${above}, ${modeText(mode)}`,
      )
    }
  }
}

/** As many as Linux follows. */
const MAX_LINKS = 40

/** Those that hold a name on the way, of a directory or of a link: whoever can write one chooses where the way ends. */
async function directoriesOnTheWay(path: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  let here = '/'
  let links = 0
  let names = resolve(path).split('/').filter(Boolean)
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    found.add(here)
    const next = join(here, name)
    // What is no link, or cannot be looked at, is found by the code that reads it.
    const target = await readlink(next).catch(() => undefined)
    if (target === undefined) {
      here = next
      continue
    }
    links += 1
    if (links > MAX_LINKS) refuseExposed(path, 'must be reached by few links', `over ${MAX_LINKS}`)
    if (target.startsWith('/')) here = '/'
    names = [...target.split('/').filter(Boolean), ...names]
  }
  return found
}

const isReadOnly = (path: string): Promise<boolean> =>
  access(path, constants.W_OK).then(
    () => false,
    (error) => systemCode(error) === 'EROFS',
  )

const modeText = (mode: number): string => `mode ${(mode & 0o7777).toString(8).padStart(3, '0')}`

const nameOf = (version: number): string => `key-${version}.json`

async function readKeyFile(
  directory: string,
  name: string,
  onShared: SecretFileListener | undefined,
): Promise<KeyFile> {
  const path = join(directory, name)
  const file = await open(path, 'r').catch((error) => unusable(path, error))
  try {
    const status = await file.stat()
    checkSecretFile(path, status, onShared)
    if (status.size > MAX_KEY_FILE_BYTES) {
      refuseFile(path, `must be at most ${MAX_KEY_FILE_BYTES} bytes`, `${status.size}`)
    }
    const text = await file.readFile('utf8').catch((error) => unusable(path, error))
    const key = parseKeyFile(text, path)
    if (name !== nameOf(key.version)) {
      refuseFile(path, 'must be named after its version', `version ${key.version}`)
    }
    return key
  } finally {
    await file.close()
  }
}

async function writeDraft(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Without it a crash could undo the new name. Windows cannot open directories, and needs no sync. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Any failure but absence is left to the code that reads it. */
async function isThere(directory: string): Promise<boolean> {
  return access(directory).then(
    () => true,
    (error) => systemCode(error) !== 'ENOENT',
  )
}

function refuseExisting(directory: string, version: number): never {
  const rule = `must be a new one, from 1 to ${MAX_KEY_VERSION}`
  const finding = `${nameOf(version)} in ${directory}`
  return refuseKey({ code: 'KEY_VERSION_EXISTS', thing: `key version ${version}`, rule, finding })
}

function refuseFull(directory: string, count: number): never {
  const rule = `must hold at most ${MAX_KEYS} keys`
  const thing = `key directory ${directory}`
  return refuseKey({ code: 'KEY_DIRECTORY_FULL', thing, rule, finding: `${count}` })
}

function refuseExposed(directory: string, rule: string, finding: string): never {
  const thing = `key directory ${directory}`
  return refuseKey({ code: 'KEY_DIRECTORY_EXPOSED', thing, rule, finding })
}

function refuseFile(thing: string, rule: string, finding: string): never {
  return refuseKey({ code: 'KEY_FILE_INVALID', thing, rule, finding })
}

function unusable(path: string, error: unknown): never {
  return refuseKey({
    code: 'KEY_DIRECTORY_UNREADABLE',
    thing: `key directory ${path}`,
    rule: 'must be readable and writable',
    finding: systemCode(error),
  })
}
