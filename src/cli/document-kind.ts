/** Which of our documents a tree is, told from its shape. */
import type { Node } from '../documents/index.ts'
import { CONFIG_KEYS } from '../server/config-file.ts'
import { refuseCall } from './cli-mistake.ts'

export const DOCUMENT_KINDS = ['config', 'defaults', 'overrides'] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

/** A list can only be overrides. A map with a key of headgate.yml is one; others are defaults. */
export const kindOf = (document: Node): DocumentKind => {
  switch (document.kind) {
    case 'list':
      return 'overrides'
    case 'map': {
      const known: ReadonlySet<string> = new Set(CONFIG_KEYS)
      return document.entries.some(({ key }) => known.has(key)) ? 'config' : 'defaults'
    }
    case 'scalar': {
      const rule = 'must be a map (headgate.yml, defaults) or a list (overrides)'
      const { at } = document
      const finding = 'a single value'
      return refuseCall({ code: 'DOCUMENT_KIND_UNKNOWN', thing: 'the document', rule, finding, at })
    }
    default:
      return document satisfies never
  }
}
