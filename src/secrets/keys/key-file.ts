/** One key as a JSON file: what may be known in the clear, the secret under AES-256-GCM. */
import { parseDocument } from '../../documents/document.ts'
import {
  type Field,
  type Fields,
  readFields,
  readOneOf,
  readText,
  readWholeNumber,
  refuseField,
} from '../../documents/index.ts'
import type { Bytes } from '../poprf/bytes.ts'
import { type KeyPurpose, MAX_KEY_VERSION, SUITE } from './key.ts'
import { refuseKey } from './key-mistake.ts'

/** All that the cipher's tag covers beside the secret. */
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
  const root = { thing: 'key', node: parseDocument(text, name) }
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

/** Canonical only: another text for the same bytes was not written by us. */
function readBase64(field: Field): Bytes {
  const text = readText(field)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') === text && text !== '') return Uint8Array.from(bytes)
  return refuseField(field, 'FIELD_VALUE', 'must be canonical base64', `${text.length} characters`)
}
