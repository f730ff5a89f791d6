/** Keys at rest: AES-256-GCM (NIST SP 800-38D) under the operator's secret. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { concatBytes } from '@noble/hashes/utils.js'
import { quote } from '../../core/errors.ts'
import { type Bytes, secretCopy } from '../poprf/bytes.ts'
import {
  checkKey,
  type KeyPurpose,
  refuseKey,
  requireVersion,
  type SignerKey,
  SUITE,
  wipe,
} from './key.ts'
import { CIPHER, KDF, KEY_FORMAT, type KeyFile, type KeyHeader } from './key-file.ts'
import { type KeySecret, requireSecret } from './key-secret.ts'

const IV_BYTES = 12
const TAG_BYTES = 16

/** A new iv each time: two sealings of one key differ, and reveal nothing of each other. */
export const sealKey = (key: SignerKey, version: number, secret: KeySecret): KeyFile => {
  const checked = checkKey(`key ${requireVersion(version)}`, key)
  const header: KeyHeader = {
    version,
    purpose: checked.purpose,
    kind: checked.kind,
    publicKey: checked.publicKey,
    ...(checked.kind === 'share' ? { polynomial: checked.polynomial } : {}),
  }
  const iv = Uint8Array.from(randomBytes(IV_BYTES))
  const cipher = createCipheriv(CIPHER, requireSecret(secret), iv, { authTagLength: TAG_BYTES })
  cipher.setAAD(associated(header))
  const ciphertext = concatBytes(cipher.update(checked.secret), cipher.final())
  return { ...header, iv, tag: Uint8Array.from(cipher.getAuthTag()), ciphertext }
}

/** Refuses a file for another purpose before it is deciphered, and one that was changed after. */
export const unsealKey = (file: KeyFile, secret: KeySecret, purpose: KeyPurpose): SignerKey => {
  const thing = `key ${file.version}`
  if (file.purpose !== purpose) {
    const rule = `must be for ${quote(purpose)}; a key serves one service only`
    refuseKey({ code: 'KEY_PURPOSE_WRONG', thing, rule, finding: quote(file.purpose) })
  }
  const opened = openFile(file, secret)
  try {
    return checkKey(thing, keyOf(file, opened))
  } catch (error) {
    wipe(opened)
    throw error
  }
}

/** Refuses a file that the secret does not open. Does not check the key in it. */
export const checkOpens = (file: KeyFile, secret: KeySecret): void => wipe(openFile(file, secret))

function openFile(file: KeyFile, secret: KeySecret): Bytes {
  const opened = decipher(file, secret)
  if (opened !== undefined) return opened
  const thing = `key ${file.version}`
  const rule = 'must be unchanged and encrypted under the secret that was given'
  const finding = 'another secret, or a file that was changed'
  return refuseKey({ code: 'KEY_UNDECIPHERABLE', thing, rule, finding })
}

function decipher(file: KeyFile, secret: KeySecret): Bytes | undefined {
  if (file.iv.length !== IV_BYTES || file.tag.length !== TAG_BYTES) return undefined
  const machine = createDecipheriv(CIPHER, requireSecret(secret), file.iv, {
    authTagLength: TAG_BYTES,
  })
  machine.setAAD(associated(file)).setAuthTag(file.tag)
  const opened = machine.update(file.ciphertext)
  try {
    machine.final()
    return secretCopy(opened)
  } catch {
    // `final` throws only for a tag that does not fit.
    return undefined
  } finally {
    opened.fill(0)
  }
}

function keyOf({ purpose, kind, publicKey, polynomial }: KeyHeader, secret: Bytes): SignerKey {
  return kind === 'share' && polynomial !== undefined
    ? { kind, purpose, publicKey, polynomial, secret }
    : { kind: 'single', purpose, publicKey, secret }
}

/** Injective: JSON of texts in a fixed order. Everything in the file but the iv, which GCM binds itself. */
function associated({ version, purpose, kind, publicKey, polynomial }: KeyHeader): Bytes {
  const texts = [publicKey, polynomial ?? new Uint8Array()].map((bytes) =>
    Buffer.from(bytes).toString('base64'),
  )
  const header = [KEY_FORMAT, SUITE, CIPHER, KDF, purpose, version, kind, ...texts]
  return new TextEncoder().encode(JSON.stringify(header))
}
