/** The keys that a signer answers with: all versions of a directory, one of them the current one. */
import type { SecretFileListener } from '../../documents/secret-file.ts'
import { decodeKeyShare } from '../poprf/key-share.ts'
import { publicKeyText } from './generate-key.ts'
import { DOMAINS_PURPOSE, type KeyPurpose, type SignerKey, wipe } from './key.ts'
import { readKeyFiles } from './key-directory.ts'
import { refuseKey } from './key-mistake.ts'
import type { KeySecret } from './key-secret.ts'
import { unsealKey } from './seal.ts'

export interface LoadKeysOptions {
  /** Default `odis-domains`. */
  readonly purpose?: KeyPurpose
  /** The version that answers where a request names none. Default: the highest. */
  readonly current?: number
  /** Told of each key file that a group can read too. */
  readonly onShared?: SecretFileListener
}

/** What may be shown and logged of a key. */
export interface KeyNotice {
  readonly version: number
  readonly kind: SignerKey['kind']
  readonly publicKey: string
  /** Of a share only. */
  readonly index?: number
}

export interface KeyRing {
  readonly current: number
  readonly notices: readonly KeyNotice[]
  /** Until `wipe`, the key itself, to be handed to an evaluator and nowhere else. */
  find(version: number): SignerKey | undefined
  /** After it `find` finds nothing. */
  wipe(): void
}

/** All or nothing: one file that cannot be opened, and none is. Does not wipe `secret`. */
export const loadKeys = async (
  directory: string,
  secret: KeySecret,
  { purpose = DOMAINS_PURPOSE, current, onShared }: LoadKeysOptions = {},
): Promise<KeyRing> => {
  const files = await readKeyFiles(directory, onShared)
  const keys = new Map<number, SignerKey>()
  const forget = (): void => {
    for (const key of keys.values()) wipe(key.secret)
    keys.clear()
  }
  try {
    for (const file of files) keys.set(file.version, unsealKey(file, secret, purpose))
    return {
      current: requireCurrent(directory, [...keys.keys()], current),
      notices: [...keys].map(([version, key]) => noticeOf(version, key)),
      find: (version) => keys.get(version),
      wipe: forget,
    }
  } catch (error) {
    forget()
    throw error
  }
}

const noticeOf = (version: number, key: SignerKey): KeyNotice => ({
  version,
  kind: key.kind,
  publicKey: publicKeyText(key),
  ...(key.kind === 'share' ? { index: decodeKeyShare(key.secret).index } : {}),
})

/** The versions come in ascending order. */
function requireCurrent(
  directory: string,
  versions: readonly number[],
  current = versions.at(-1),
): number {
  const thing = `key directory ${directory}`
  if (current === undefined) {
    const rule = 'must hold a key'
    return refuseKey({ code: 'KEY_DIRECTORY_EMPTY', thing, rule, finding: 'no key-<version>.json' })
  }
  if (versions.includes(current)) return current
  return refuseKey({
    code: 'KEY_VERSION_UNKNOWN',
    thing,
    rule: `must hold the current version, ${current}`,
    finding: versions.length === 0 ? 'none' : versions.join(', '),
  })
}
