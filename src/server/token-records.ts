/** The `tokens` of headgate.yml: who may ask, kept as the hash of what they show. */
import { describePosition, type Position } from '../core/index.ts'
import {
  type Field,
  quote,
  readFields,
  readList,
  readOneOf,
  readText,
  refuseField,
} from '../documents/index.ts'
import { refuseConfig } from './config-mistake.ts'
import { SCOPES, type Scope, type TokenRecord } from './settings.ts'

export const TOKEN_KEYS = ['name', 'sha256', 'scopes'] as const

/** A token is for a service, not for a user; more belong behind an identity provider. */
export const MAX_TOKENS = 1_000

/** Operation ids made without a token are kept under this name: a token must not share them. */
const RESERVED_NAME = 'local'

export const readTokens = (field: Field): readonly TokenRecord[] => {
  const items = readList(field)
  if (items.length > MAX_TOKENS) {
    refuseField(field, 'FIELD_VALUE', `must hold at most ${MAX_TOKENS}`, `${items.length}`)
  }
  const seen = new Map<string, Position>()
  return items.map((item) => {
    const fields = readFields(item, { required: TOKEN_KEYS, optional: [] })
    const name = readName(fields.name)
    const sha256 = readHash(fields.sha256)
    refuseTwice(seen, `name ${quote(name)}`, fields.name)
    refuseTwice(seen, `sha256 of ${quote(name)}`, fields.sha256, sha256)
    return { name, sha256, scopes: readScopes(fields.scopes) }
  })
}

function readName(field: Field): string {
  const name = readText(field)
  if (!TOKEN_NAME.test(name)) {
    refuseField(field, 'FIELD_VALUE', TOKEN_NAME_RULE, quote(name))
  }
  if (name === RESERVED_NAME) {
    refuseField(field, 'FIELD_VALUE', 'must not be the name that stands for no token', quote(name))
  }
  return name
}

export const TOKEN_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
export const TOKEN_NAME_RULE = 'must be up to 64 letters, digits, dots, hyphens and underscores'

/** What was found is not repeated: it may be the token itself, in the place of its hash. */
function readHash(field: Field): string {
  const text = readText(field)
  if (/^[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase()
  const rule = 'must be the 64 hex digits that `headgate tokens new` prints, not the token itself'
  return refuseField(field, 'FIELD_VALUE', rule, `${text.length} characters`)
}

function readScopes(field: Field): readonly Scope[] {
  const scopes = readList(field).map((item) => readOneOf(item, SCOPES))
  if (scopes.length === 0) refuseField(field, 'FIELD_VALUE', 'must hold decide or admin', 'none')
  return [...new Set(scopes)]
}

function refuseTwice(
  seen: Map<string, Position>,
  thing: string,
  { node }: Field,
  identity = thing,
): void {
  const earlier = seen.get(identity)
  seen.set(identity, node.at)
  if (earlier === undefined) return
  const finding = `it also at ${describePosition(earlier)}`
  refuseConfig({ code: 'TOKEN_DUPLICATE', thing, rule: 'must stand once', finding, at: node.at })
}
