/** The `subjects` section of headgate.yml: under which name rates are kept, and by which key. */
import { resolve } from 'node:path'
import {
  type Field,
  type Fields,
  quote,
  readFields,
  readText,
  refuseField,
} from '../../documents/index.ts'
import type { Environment } from '../options.ts'
import type { Settings } from '../settings.ts'
import { parseStoreUrl } from '../store-url.ts'

export const SUBJECT_KEYS = ['identity', 'keyFile'] as const

/** Holds the key itself, so that containers need no file for it. Wins over `keyFile`. */
export const UCAN_KEY_VARIABLE = 'HEADGATE_UCAN_KEY'

export interface SubjectSettings {
  /** The did:web that the key goes by; absent: its own did:key. */
  readonly identity?: string
  /** Absolute. Absent: beside the store. */
  readonly keyFile?: string
}

/** The word for a service that goes by its key. */
const OWN_NAME = 'did:key'

export const readSubjects = (field: Field, folder: string): SubjectSettings => {
  const shape = { required: [], optional: SUBJECT_KEYS }
  const fields: Fields<never, (typeof SUBJECT_KEYS)[number]> = readFields(field, shape)
  const identity = fields.identity && readIdentity(fields.identity)
  return {
    ...(identity !== undefined && { identity }),
    ...(fields.keyFile && { keyFile: resolve(folder, readText(fields.keyFile)) }),
  }
}

/** On where the section or the key is given; the section may be empty. */
export const subjectSettings = (
  { subjects }: Settings,
  environment: Environment,
): SubjectSettings | undefined =>
  subjects ?? (environment[UCAN_KEY_VARIABLE] === undefined ? undefined : {})

/** Beside a SQLite file: whoever shares the file shares the key, and with it the rates. */
export const keyFileOf = ({ store, subjects }: Settings): string => {
  if (subjects?.keyFile !== undefined) return subjects.keyFile
  const address = parseStoreUrl(store)
  return resolve(address.kind === 'sqlite' ? `${address.path}.key` : 'headgate.key')
}

function readIdentity(field: Field): string | undefined {
  const text = readText(field)
  if (text === OWN_NAME) return undefined
  if (/^did:web:[A-Za-z0-9._:%-]{1,255}$/.test(text)) return text
  const rule = `must be ${OWN_NAME}, or a did:web such as did:web:headgate.example`
  return refuseField(field, 'FIELD_VALUE', rule, quote(text))
}
