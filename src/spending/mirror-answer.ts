/** Answers of a mirror node's REST API, read strictly where it matters: fields that we do not use are let be. */
import { HeadgateError } from '../core/errors.ts'
import { describeNode, type Field, readEntries } from '../documents/index.ts'
import { parseJson } from '../documents/json.ts'

export type MirrorErrorCode = 'MIRROR_ANSWER_INVALID' | 'MIRROR_UNAVAILABLE'

/** Numbers stay text: a balance beyond 2^53 tinybars is ninety million HBAR, and such accounts exist. */
export const parseMirrorAnswer = (text: string, url: string): Field => {
  try {
    return { thing: 'answer', node: parseJson(text, url) }
  } catch (error) {
    if (!(error instanceof HeadgateError)) throw error
    const { thing, rule, finding, at } = error
    const code = 'MIRROR_ANSWER_INVALID'
    throw new HeadgateError<MirrorErrorCode>({ code, thing, rule, finding, at }, { cause: error })
  }
}

export const mirrorField = (field: Field, name: string): Field => {
  if (field.node.kind !== 'map') return refuseMirror(field, 'must be an object')
  const found = readEntries(field).find((entry) => entry.name === name)
  return found ?? refuseMirror(field, `must hold ${name}`, 'none')
}

export const mirrorText = (field: Field): string => {
  const { node } = field
  return node.kind === 'scalar' && node.quoted ? node.text : refuseMirror(field, 'must be text')
}

export const mirrorNumber = (field: Field): bigint => {
  const { node } = field
  const text = node.kind === 'scalar' && !node.quoted ? node.text : ''
  return /^\d{1,19}$/.test(text) ? BigInt(text) : refuseMirror(field, 'must be a whole number')
}

export const refuseMirror = (
  { thing, node }: Field,
  rule: string,
  finding = describeNode(node),
): never => {
  throw new HeadgateError<MirrorErrorCode>({
    code: 'MIRROR_ANSWER_INVALID',
    thing,
    rule,
    finding,
    at: node.at,
  })
}
