/** One key as a JSON file: the public part in the clear, the secret under AES-256-GCM. */

import { HeadgateError } from '../../core/errors.ts'
import { type Field, type Fields, readFields, refuseField } from '../../documents/field.ts'
import { parseJson } from '../../documents/json.ts'
import { readOneOf, readText, readWholeNumber } from '../../documents/scalars.ts'
import { type Bytes, secretCopy } from '../poprf/bytes.ts'
import {
  KEY_SHARE_BYTES,
  PRIVATE_KEY_BYTES,
  PUBLIC_KEY_BYTES,
  publicKeyOf,
} from '../poprf/key-share.ts'
import {
  CONSTANT_AT,
  DOMAINS_PURPOSE,
  type KeyErrorCode,
  type KeyPurpose,
  MAX_KEY_VERSION,
  refuseKey,
  type SignerKey,
  SUITE,
} from './key.ts'

/** What the cipher's tag covers beside the secret. */
export interface KeyHeader {
  readonly version: number
  readonly purpose: KeyPurpose
  readonly kind: 'single' | 'share'
  readonly publicKey: Bytes
  /** Of a share only. */
  readonly polynomial?: Bytes
}

export interface KeyFile extends KeyHeader {
  readonly iv: Bytes
  readonly tag: Bytes
  readonly ciphertext: Bytes
}

/** Raised when an older Headgate could no longer read the file. */
export const KEY_FORMAT = 1
export const CIPHER = 'aes-256-gcm'

/** None: what encrypts is a key of 256 bits already, never a password. */
export const KDF = 'none'

/** The polynomial of 255 commitments in base64 is 32 kB. */
export const MAX_KEY_FILE_BYTES = 65_536

const REQUIRED = [
  'format',
  'suite',
  'purpose',
  'version',
  'kind',
  'publicKey',
  'cipher',
  'kdf',
  'iv',
  'tag',
  'ciphertext',
] as const

export const formatKeyFile = (file: KeyFile): string => {
  const { polynomial } = file
  const fields = {
    format: KEY_FORMAT,
    suite: SUITE,
    purpose: file.purpose,
    version: file.version,
    kind: file.kind,
    publicKey: base64(file.publicKey),
    ...(polynomial === undefined ? {} : { polynomial: base64(polynomial) }),
    cipher: CIPHER,
    kdf: KDF,
    iv: base64(file.iv),
    tag: base64(file.tag),
    ciphertext: base64(file.ciphertext),
  }
  return `${JSON.stringify(fields, null, 2)}\n`
}

export const parseKeyFile = (text: string, name: string): KeyFile => {
  const parse = () => parseJson(text, name)
  const node = withoutQuoting(parse, 'KEY_FILE_INVALID', 'key', 'must be JSON, as it was written')
  const root = { thing: 'key', node }
  const fields = readFields(root, { required: REQUIRED, optional: ['polynomial'] })
  refuseOtherFormats(fields, name)
  const kind = readOneOf(fields.kind, ['single', 'share'])
  return {
    version: readWholeNumber(fields.version, { min: 1, max: MAX_KEY_VERSION }),
    purpose: readText(fields.purpose),
    kind,
    publicKey: readBase64(fields.publicKey),
    ...readPolynomial(root, kind, fields.polynomial),
    iv: readBase64(fields.iv),
    tag: readBase64(fields.tag),
    ciphertext: readBase64(fields.ciphertext),
  }
}

/** What is no key file may be a key all the same, misplaced or cut off: a parser's message would quote it. */
function withoutQuoting<Found>(
  parse: () => Found,
  code: KeyErrorCode,
  thing: string,
  rule: string,
): Found {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error
    const finding = `something else, which is not repeated (${error.code})`
    return refuseKey({ code, thing, rule, finding, at: error.at })
  }
}

function readPolynomial(
  root: Field,
  kind: KeyFile['kind'],
  field: Field | undefined,
): Pick<KeyFile, 'polynomial'> {
  if ((kind === 'share') !== (field !== undefined)) {
    refuseField(root, 'FIELD_VALUE', 'must have a polynomial if and only if it is a share', kind)
  }
  return field === undefined ? {} : { polynomial: readBase64(field) }
}

function refuseOtherFormats(fields: Fields<(typeof REQUIRED)[number], never>, thing: string): void {
  const wanted = { format: String(KEY_FORMAT), suite: SUITE, cipher: CIPHER, kdf: KDF }
  const found = {
    format: readText(fields.format),
    suite: readText(fields.suite),
    cipher: readText(fields.cipher),
    kdf: readText(fields.kdf),
  }
  if (JSON.stringify(found) === JSON.stringify(wanted)) return
  refuseKey({
    code: 'KEY_FORMAT_UNKNOWN',
    thing,
    rule: `must be of ${Object.entries(wanted).flat().join(' ')}`,
    finding: Object.entries(found).flat().join(' '),
  })
}

const base64 = (bytes: Bytes): string => Buffer.from(bytes).toString('base64')

/** Canonical only: Headgate writes no other text for the same bytes. */
function readBase64(field: Field): Bytes {
  const text = readText(field)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') === text && text !== '') return Uint8Array.from(bytes)
  return refuseField(field, 'FIELD_VALUE', 'must be canonical base64', `${text.length} characters`)
}

// Keys as operators of other services hold them: in the clear, and not for long.

/** A key that was in the clear, or one of our own files, which its secret opens. */
export type KeyText =
  | { readonly kind: 'open'; readonly key: SignerKey }
  | { readonly kind: 'sealed'; readonly file: KeyFile }

/**
 * Takes what Celo's operators have: a share of 36 bytes as hex (or base64) with its polynomial, or the
 * JSON that a ceremony wrote; also a whole key of 32 bytes, and a key file of Headgate. Whether the
 * parts belong together is checked when the key is saved. No message repeats anything of it.
 */
export const parseKeyText = (text: string, name: string, polynomial?: string): KeyText => {
  const trimmed = text.trim()
  const given = polynomial === undefined ? undefined : decodePublic('polynomial', polynomial)
  if (!trimmed.startsWith('{')) return { kind: 'open', key: keyOfBytes(trimmed, name, given) }
  const ceremony = readCeremony(trimmed)
  if (ceremony === undefined) {
    const rule = 'must be the output of a ceremony or a key file where it is JSON'
    const parse = () => parseKeyFile(text, name)
    const file = withoutQuoting(parse, 'KEY_IMPORT_INVALID', name, rule)
    return { kind: 'sealed', file }
  }
  const { share, publicPolynomial, publicKey } = ceremony
  const whole = given ?? decodePublic('publicPolynomial', publicPolynomial)
  const key = keyOfBytes(share, name, whole)
  return { kind: 'open', key: { ...key, publicKey: decodePublic('publicKey', publicKey) } }
}

function keyOfBytes(text: string, name: string, polynomial: Bytes | undefined): SignerKey {
  const purpose = DOMAINS_PURPOSE
  const secret = decodeSecret(text)
  switch (secret?.length) {
    case PRIVATE_KEY_BYTES:
      if (polynomial !== undefined)
        refuseImport(name, 'must be a share to have a polynomial', 'a whole key')
      return { kind: 'single', purpose, secret, publicKey: publicKeyOf(secret) }
    case KEY_SHARE_BYTES: {
      if (polynomial === undefined) {
        return refuseImport(
          name,
          'must come with the polynomial of its key (--polynomial)',
          'a share alone',
        )
      }
      const publicKey = polynomial.slice(CONSTANT_AT, CONSTANT_AT + PUBLIC_KEY_BYTES)
      return { kind: 'share', purpose, secret, polynomial, publicKey }
    }
    default: {
      const rule = `must be a share of ${KEY_SHARE_BYTES} bytes or a whole key of ${PRIVATE_KEY_BYTES} in hex or base64, the output of a ceremony, or a key file`
      return refuseImport(name, rule, `${text.length} characters of something else`)
    }
  }
}

/** Undefined for any other JSON, and for what is none. */
function readCeremony(
  text: string,
): { readonly [Name in 'share' | 'publicPolynomial' | 'publicKey']: string } | undefined {
  try {
    const { share, publicPolynomial, publicKey }: Record<string, unknown> = Object(JSON.parse(text))
    if (typeof share !== 'string' || typeof publicKey !== 'string') return undefined
    return typeof publicPolynomial === 'string' ? { share, publicPolynomial, publicKey } : undefined
  } catch {
    return undefined
  }
}

function decodeSecret(text: string): Bytes | undefined {
  const bytes = decodeBytes(text)
  if (bytes === undefined) return undefined
  const secret = secretCopy(bytes)
  bytes.fill(0)
  return secret
}

function decodePublic(thing: string, text: string): Bytes {
  const bytes = decodeBytes(text.trim())
  if (bytes !== undefined) return Uint8Array.from(bytes)
  const finding = `${text.length} characters of something else`
  return refuseImport(thing, 'must be bytes in hex or base64', finding)
}

/** Hex wherever it can be: 48 digits of it are no key, so base64 of 36 bytes is not mistaken for it. */
function decodeBytes(text: string): Buffer | undefined {
  const digits = text.replace(/^0x/i, '')
  if (/^(?:[0-9a-f]{2})+$/i.test(digits) && digits.length !== 48) return Buffer.from(digits, 'hex')
  const bytes = Buffer.from(text, 'base64')
  return text !== '' && bytes.toString('base64') === text ? bytes : undefined
}

function refuseImport(thing: string, rule: string, finding: string): never {
  return refuseKey({ code: 'KEY_IMPORT_INVALID', thing, rule, finding })
}
