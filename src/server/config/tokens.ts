/** The `tokens` of headgate.yml: who may ask, kept as the hash of what they show. */
import { describePosition, type Position, quote } from '../../core/errors.ts'
import { type Field, readFields, readList, refuseField } from '../../documents/field.ts'
import { readAll } from '../../documents/mistakes.ts'
import { readText } from '../../documents/scalars.ts'
import { listOf, oneOf, type Reader } from '../../documents/settings/reader.ts'
import { record, type SettingsOf, settingsTable } from '../../documents/settings/table.ts'
import { refuseConfig } from './config-mistake.ts'

export const SCOPES = ['decide', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export const TOKEN_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
export const TOKEN_NAME_RULE = 'must be up to 64 letters, digits, dots, hyphens and underscores'

/** A token is for a service, not for a user; more belong behind an identity provider. */
const MAX_TOKENS = 1_000

/** Operation ids of callers without a token are kept under this name: a token must not share them. */
const RESERVED_NAME = 'local'

const tokenName: Reader<string> = {
  fromField: (field) => {
    const name = readText(field)
    if (!TOKEN_NAME.test(name)) refuseField(field, 'FIELD_VALUE', TOKEN_NAME_RULE, quote(name))
    if (name !== RESERVED_NAME) return name
    const rule = 'must not be the name that stands for no token'
    return refuseField(field, 'FIELD_VALUE', rule, quote(name))
  },
  schema: { type: 'string', pattern: TOKEN_NAME.source },
}

/** What was found is not repeated: it may be the token itself instead of its hash. */
const tokenHash: Reader<string> = {
  fromField: (field) => {
    const text = readText(field)
    if (/^[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
    const rule = 'must be the 64 hex digits that `headgate tokens new` prints, not the token itself'
    return refuseField(field, 'FIELD_VALUE', rule, `${text.length} characters`)
  },
  schema: { type: 'string', pattern: '^[0-9a-fA-F]{64}$' },
}

const scopeList: Reader<readonly Scope[]> = {
  fromField: (field) => {
    const scopes = readAll(readList(field), (item) => oneOf(SCOPES).fromField(item, {}))
    if (scopes.length === 0) refuseField(field, 'FIELD_VALUE', 'must hold decide or admin', 'none')
    return [...new Set(scopes)]
  },
  schema: { type: 'array', minItems: 1, items: oneOf(SCOPES).schema },
}

const TOKEN_SETTINGS = settingsTable({
  name: { reader: tokenName, required: true, sentence: 'Whose token it is, in logs.' },
  sha256: { reader: tokenHash, required: true, sentence: 'SHA-256 of the token, in hex.' },
  scopes: { reader: scopeList, required: true, sentence: 'What it may do: `decide`, `admin`.' },
})

export type TokenRecord = SettingsOf<typeof TOKEN_SETTINGS>

const list = listOf(record(TOKEN_SETTINGS), MAX_TOKENS)

export const tokenList: Reader<readonly TokenRecord[]> = {
  ...list,
  fromField: (field, context) => {
    const tokens = list.fromField(field, context)
    refuseTwins(field, tokens)
    return tokens
  },
}

function refuseTwins(field: Field, tokens: readonly TokenRecord[]): void {
  const seen = new Map<string, Position>()
  const once = (identity: string, thing: string, { node }: Field): void => {
    const earlier = seen.get(identity)
    seen.set(identity, node.at)
    if (earlier === undefined) return
    const finding = `it also at ${describePosition(earlier)}`
    refuseConfig({ code: 'TOKEN_DUPLICATE', thing, rule: 'must stand once', finding, at: node.at })
  }
  for (const [index, item] of readList(field).entries()) {
    const fields = readFields(item, {
      required: ['name', 'sha256', 'scopes'] as const,
      optional: [],
    })
    const { name = '', sha256 = '' } = tokens[index] ?? {}
    once(`name ${name}`, `name ${quote(name)}`, fields.name)
    once(sha256, `sha256 of ${quote(name)}`, fields.sha256)
  }
}
