/** Strict reading of one YAML 1.2 or JSON document: what is doubtful is refused, with its place. */
import { HeadgateError } from '../core/errors.ts'
import { parseJson } from './json.ts'
import { refuse } from './mistake.ts'
import { MAX_NODES, type Node, sizeOf } from './node.ts'
import { readPlainYaml } from './plain-yaml.ts'
import { readYaml } from './yaml.ts'

/**
 * Room for 200,000 overrides with comments. Where only the YAML library can read them they take 1 GB;
 * twice as many took 2.1 GB, where a small machine's heap ends. What is larger belongs in several files.
 */
export const MAX_DOCUMENT_LENGTH = 8 * 1024 * 1024

/** `file` is only a name for messages: nothing is read from disk. */
export const parseDocument = (source: string, file: string): Node => {
  refuseLength(source, file)
  const text = source.replace(/^\uFEFF/, '')
  return quickly(text, file) ?? readYaml(text, file)
}

/**
 * The tree that the YAML library would give, where it is had more easily; else undefined, and the
 * library reads it or says what is wrong. 200,000 overrides with comments take 0.9 s, by the library 9 s.
 */
function quickly(text: string, file: string): Node | undefined {
  const tree = /^\s*[[{]/.test(text) ? readJson(text, file) : readPlainYaml(text, file)
  return tree === undefined || sizeOf(tree) > MAX_NODES ? undefined : tree
}

/** YAML in flow style begins like JSON, and need not be it. */
function readJson(text: string, file: string): Node | undefined {
  try {
    return parseJson(text, file)
  } catch (error) {
    if (error instanceof HeadgateError) return undefined
    throw error
  }
}

function refuseLength({ length }: string, file: string): void {
  if (length <= MAX_DOCUMENT_LENGTH) return
  const rule = `must be at most ${MAX_DOCUMENT_LENGTH} characters long`
  const at = { file, line: 1, column: 1 }
  refuse({ code: 'DOCUMENT_TOO_LARGE', thing: 'the document', rule, finding: `${length}`, at })
}
