/** The `subjects` of headgate.yml: the identity under which rates are kept, and its key. */
import { resolve } from 'node:path'
import { quote } from '../../core/errors.ts'
import { refuseField } from '../../documents/field.ts'
import { readText } from '../../documents/scalars.ts'
import { type Environment, filePath, type Reader } from '../../documents/settings/reader.ts'
import { type SettingsOf, settingsTable } from '../../documents/settings/table.ts'
import type { Settings } from '../config/settings.ts'
import { parseStoreUrl } from '../config/store-url.ts'

/** Holds the key itself, so that containers need no file for it. Wins over `keyFile`. */
export const UCAN_KEY_VARIABLE = 'HEADGATE_UCAN_KEY'

/** Written for a service whose DID is that of its key. */
const OWN_NAME = 'did:key'

/** Undefined for the key's own name. */
const identity: Reader<string | undefined> = {
  fromField: (field) => {
    const text = readText(field)
    if (text === OWN_NAME) return undefined
    if (/^did:web:[A-Za-z0-9._:%-]{1,255}$/.test(text)) return text
    const rule = `must be ${OWN_NAME}, or a did:web such as did:web:headgate.example`
    return refuseField(field, 'FIELD_VALUE', rule, quote(text))
  },
  schema: {
    type: 'string',
    pattern: '^did:(key|web:[A-Za-z0-9._:%-]{1,255})$',
    default: OWN_NAME,
  },
}

export const SUBJECT_SETTINGS = settingsTable({
  identity: {
    reader: identity,
    unset: `\`${OWN_NAME}\``,
    sentence: 'The DID of the service: `did:key`, or a `did:web` that it answers for.',
  },
  keyFile: {
    reader: filePath,
    unset: 'beside the store',
    sentence: 'The file of its key; made at the first start if it is not there.',
  },
})

type SubjectSettings = SettingsOf<typeof SUBJECT_SETTINGS>

/** Subjects are on where the section or the key is given; the section may be empty. */
export const subjectSettings = (
  { subjects }: Settings,
  environment: Environment,
): SubjectSettings | undefined =>
  subjects ?? (environment[UCAN_KEY_VARIABLE] === undefined ? undefined : {})

/** Beside a SQLite file: servers that share the file share the key, and with it the rates. */
export const keyFileOf = ({ store, subjects }: Settings): string => {
  if (subjects?.keyFile !== undefined) return subjects.keyFile
  const address = parseStoreUrl(store)
  return resolve(address.kind === 'sqlite' ? `${address.path}.key` : 'headgate.key')
}
