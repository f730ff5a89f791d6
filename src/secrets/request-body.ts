/** A request's bytes as a tree, and the name and version in it that say how to read the rest. */
import type { Field } from '../documents/index.ts'
import { parseJson } from '../documents/json.ts'
import type { Context } from './eip712/typed-data.ts'
import { refuseSecret } from './secrets-mistake.ts'

/** 64 stages with every field spelt out are 13 kB; the deployed service takes 200 kB. */
export const MAX_BODY_BYTES = 65_536

export const parseBody = (bytes: Uint8Array): Field => ({
  thing: 'request',
  node: parseJson(decodeUtf8(bytes), 'request'),
})

/** Says nothing yet about the other fields. Undefined where it has no domain of a name and version. */
export const domainNamed = ({ node }: Field): Context | undefined => {
  const domain =
    node.kind === 'map' ? node.entries.find(({ key }) => key === 'domain')?.value : undefined
  if (domain?.kind !== 'map') return undefined
  const text = (name: string): string | undefined => {
    const value = domain.entries.find(({ key }) => key === name)?.value
    return value?.kind === 'scalar' && value.quoted ? value.text : undefined
  }
  const [name, version] = [text('name'), text('version')]
  return name === undefined || version === undefined ? undefined : { name, version }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const rule = 'must be UTF-8 text'
    return refuseSecret({ code: 'REQUEST_INVALID', thing: 'request', rule, finding: 'other bytes' })
  }
}
