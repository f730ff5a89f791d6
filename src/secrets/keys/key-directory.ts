/** Where keys are kept: one file a version, `key-1.json`, written once and never over another. */
import { randomBytes } from 'node:crypto'
import { access, link, mkdir, open, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../../core/errors.ts'
import { checkSecretFile, type SecretFileListener } from '../../documents/secret-file.ts'
import { MAX_KEY_VERSION, type SignerKey } from './key.ts'
import { formatKeyFile, type KeyFile, MAX_KEY_FILE_BYTES, parseKeyFile } from './key-file.ts'
import { refuseKey } from './key-mistake.ts'
import type { KeySecret } from './key-secret.ts'
import { checkOpens, sealKey } from './seal.ts'

/** A key a month for five years. Old ones are deleted when nothing depends on them. */
export const MAX_KEYS = 64

/**
 * Durable before it resolves, and all or nothing: a version that exists is refused, not replaced,
 * since every answer given under it would be lost. So is whatever `checkNewKey` refuses.
 */
export const storeKey = async (
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
 * Whether a key could be stored, before anything is written: its version is new, there is room, and
 * the secret opens all keys that are there. A signer opens them all by one secret, or does not start.
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

/** In the order of their versions; whatever is not called `key-…` is not looked at. */
export const readKeyFiles = async (
  directory: string,
  onShared?: SecretFileListener,
): Promise<readonly KeyFile[]> => {
  const names = await readdir(directory).catch((error) => unusable(directory, error))
  const keys = names.filter((name) => name.startsWith('key-'))
  if (keys.length > MAX_KEYS) refuseFull(directory, keys.length)
  const files: KeyFile[] = []
  for (const name of keys) files.push(await readKeyFile(directory, name, onShared))
  return files.sort((one, other) => one.version - other.version)
}

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

/** Without it a crash could take the new name back. Windows cannot open directories, nor needs to. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Anything but its absence is left to whoever reads it. */
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
