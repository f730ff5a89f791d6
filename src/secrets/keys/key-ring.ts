/** The keys that a signer answers with: all versions of a directory, one of them the current one. */
import type { SecretFileListener } from '../../documents/secret-file.ts'
import { shareIndexOf } from '../poprf/key-share.ts'
import {
  DOMAINS_PURPOSE,
  type KeyPurpose,
  publicKeyText,
  refuseKey,
  type SignerKey,
  wipe,
} from './key.ts'
import { readKeyFiles } from './key-directory.ts'
import type { KeySecret } from './key-secret.ts'
import { unsealKey } from './seal.ts'

export interface LoadKeysOptions {
  /** Default `odis-domains`. */
  readonly purpose?: KeyPurpose
  /** The version that answers where a request names none. Default: the highest. */
  readonly current?: number
  /** Called for each key file that a group can read too. */
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
  /** Afterwards `find` finds nothing. */
  wipe(): void
}

/** All or nothing: if one file cannot be opened, none is. Does not wipe `secret`. */
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

/** A ring that is read again while a signer uses it. */
export interface LiveKeyRing extends KeyRing {
  /**
   * Puts the keys as they are now in the place of those that were, and wipes these. Rejects, and leaves
   * everything as it was, if they cannot be read or if a version has become another key, be it one that
   * was gone for a while: a retry of what it answered would be another answer, and charged nothing.
   */
  reload(): Promise<KeyChanges>
}

/** By version. */
export interface KeyChanges {
  readonly added: readonly number[]
  readonly removed: readonly number[]
}

export const liveKeys = async (load: () => Promise<KeyRing>): Promise<LiveKeyRing> => {
  let ring = await load()
  // Also of versions that are gone.
  const known = identitiesOf(ring)
  let closed = false
  let queue: Promise<unknown> = Promise.resolve()

  const loadAgain = async (): Promise<KeyChanges> => {
    const next = await load()
    try {
      if (closed) next.wipe()
      else refuseChanged(known, identitiesOf(next))
    } catch (error) {
      next.wipe()
      throw error
    }
    const last = ring
    ring = next
    last.wipe()
    return { added: missingIn(last, next), removed: missingIn(next, last) }
  }

  return {
    get current() {
      return ring.current
    },
    get notices() {
      return ring.notices
    },
    find: (version) => ring.find(version),
    wipe: () => {
      closed = true
      ring.wipe()
    },
    // One after another: of two loads at once the older could win.
    reload: () => {
      const turn = queue.then(loadAgain)
      queue = turn.catch(() => undefined)
      return turn
    },
  }
}

/** The versions of `whole` that are not in `part`, be they wiped or not. */
const missingIn = (part: KeyRing, whole: KeyRing): readonly number[] => {
  const known = new Set(part.notices.map(({ version }) => version))
  return whole.notices.map(({ version }) => version).filter((version) => !known.has(version))
}

/** Every answer given under a version would be lost with its key. Remembers the new ones, if none is refused. */
function refuseChanged(known: Map<number, string>, found: ReadonlyMap<number, string>): void {
  for (const [version, identity] of found) {
    if ((known.get(version) ?? identity) === identity) continue
    refuseKey({
      code: 'KEY_VERSION_CHANGED',
      thing: `key version ${version}`,
      rule: 'must stay the same key while a signer runs',
      finding: 'another',
    })
  }
  for (const [version, identity] of found) known.set(version, identity)
}

/** What is public of a key determines it. By version. */
const identitiesOf = (ring: KeyRing): Map<number, string> =>
  new Map(
    ring.notices.map((notice) => {
      const key = ring.find(notice.version)
      return [notice.version, JSON.stringify([notice, key && polynomialText(key)])]
    }),
  )

const polynomialText = (key: SignerKey): string =>
  key.kind === 'share' ? Buffer.from(key.polynomial).toString('base64') : ''

const noticeOf = (version: number, key: SignerKey): KeyNotice => ({
  version,
  kind: key.kind,
  publicKey: publicKeyText(key),
  ...(key.kind === 'share' ? { index: shareIndexOf(key.secret) } : {}),
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
