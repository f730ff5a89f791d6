/** A service's key in a file of its own, made at the first start and readable by its owner only. */
import { randomBytes } from 'node:crypto'
import { link, open, unlink, writeFile } from 'node:fs/promises'
import { systemCode } from '../../core/errors.ts'
import { checkSecretFile, type SecretFileListener } from '../../documents/secret-file.ts'
import { refuseSubject } from '../mistake.ts'
import { generateIdentity, type Identity, parseIdentity } from './identity.ts'

export interface KeyFileOptions {
  readonly path: string
  /** Another name for the key, such as did:web:example.com. */
  readonly did?: string | undefined
  /** Called if a group can read the file too. */
  readonly onShared?: SecretFileListener | undefined
}

/** Several processes may start at once on one path: they end up with one key. */
export const openKeyFile = async ({ path, did, onShared }: KeyFileOptions): Promise<Identity> => {
  const kept = await readKey(path, onShared)
  if (kept !== undefined) return parseIdentity(kept, did)
  await createKey(path)
  const made = await readKey(path, onShared)
  return made === undefined ? unusable(path, 'no file after it was made') : parseIdentity(made, did)
}

async function readKey(
  path: string,
  onShared: SecretFileListener | undefined,
): Promise<string | undefined> {
  const file = await open(path, 'r').catch((error: unknown) =>
    systemCode(error) === 'ENOENT' ? undefined : unusable(path, systemCode(error), error),
  )
  if (file === undefined) return undefined
  try {
    checkSecretFile(path, await file.stat(), onShared)
    return await file
      .readFile('utf8')
      .catch((error: unknown) => unusable(path, systemCode(error), error))
  } finally {
    await file.close()
  }
}

/** Written beside and linked into place: half a key is never read, and the first one wins. */
async function createKey(path: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(draft, `${generateIdentity().secret}\n`, { mode: 0o600, flag: 'wx' })
    await link(draft, path).catch((error: unknown) => {
      if (systemCode(error) !== 'EEXIST') throw error
    })
  } catch (error) {
    unusable(path, systemCode(error), error)
  } finally {
    await unlink(draft).catch(() => {})
  }
}

function unusable(path: string, finding: string, cause?: unknown): never {
  const rule = 'must be a file that holds the key, or a place where one can be made'
  return refuseSubject(
    { code: 'KEY_FILE_UNUSABLE', thing: `key file ${path}`, rule, finding },
    cause,
  )
}
