/** Any YAML 1.2 document, by way of the YAML library: what is doubtful is refused, with its place. */
import { Composer, type CST, type Document, LineCounter, Parser, type YAMLError } from 'yaml'
import type { Position } from '../core/errors.ts'
import { buildTree } from './build-tree.ts'
import { refuse } from './mistake.ts'
import { isNothing, MAX_DEPTH, type Node } from './node.ts'

/** At some 9 µs and 1 kB for each key and value, nearly all of it the library's. */
export const readYaml = (source: string, file: string): Node => {
  const lines = new LineCounter()
  const locate = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { file, line, column: col }
  }
  const [first, second] = compose(source, lines, locate)
  if (first === undefined) {
    return refuseEmpty('nothing but space and comments', { file, line: 1, column: 1 })
  }
  refuseErrors(first, locate)
  if (second !== undefined) {
    const rule = 'must be one document; split it into files'
    const at = locate(second.range[0])
    refuse({ code: 'DOCUMENT_MULTIPLE', thing: DOCUMENT, rule, finding: 'a second one', at })
  }
  const tree = buildTree(first.contents, locate)
  return isNothing(tree) ? refuseEmpty('nothing', tree.at) : tree
}

const DOCUMENT = 'the document'

const refuseEmpty = (finding: string, at: Position): never => {
  const rule = 'must not be empty; write {} or [] where nothing is meant'
  return refuse({ code: 'DOCUMENT_EMPTY', thing: DOCUMENT, rule, finding, at })
}

type Locate = (offset: number) => Position

function compose(source: string, lines: LineCounter, locate: Locate): Document.Parsed[] {
  const composer = new Composer({
    // Only text, lists and maps: ids stay source text, and no tag makes a value of another kind.
    schema: 'failsafe',
    // The tree refuses duplicates itself, in linear time; the library compares every pair of keys.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  const tokens = shallow(new Parser(lines.addNewLine).parse(source), locate)
  return Array.from(composer.compose(tokens))
}

/** The parser keeps a stack of its own, but the composer recurses: depth is checked in between. */
function* shallow(tokens: Iterable<CST.Token>, locate: Locate): Generator<CST.Token> {
  for (const token of tokens) {
    refuseDepth(token, locate)
    yield token
  }
}

function refuseDepth(root: CST.Token, locate: Locate): void {
  const pending: { token: CST.Token; depth: number }[] = [{ token: root, depth: 0 }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { token, depth } = next
    if (depth > MAX_DEPTH) {
      const rule = `must nest at most ${MAX_DEPTH} lists and maps`
      const at = locate(token.offset)
      refuse({ code: 'DOCUMENT_TOO_LARGE', thing: DOCUMENT, rule, finding: 'more', at })
    }
    if (token.type === 'document' && token.value) pending.push({ token: token.value, depth })
    if (!('items' in token)) continue
    for (const { key, value } of token.items) {
      if (key) pending.push({ token: key, depth: depth + 1 })
      if (value) pending.push({ token: value, depth: depth + 1 })
    }
  }
}

function refuseErrors(document: Document.Parsed, locate: Locate): void {
  // Warnings are tags that the schema does not know: `!!int` and the like. We use none.
  const [fault] = [...document.errors, ...document.warnings]
  if (fault === undefined) return
  const rule = 'must be valid YAML 1.2 or JSON without tags'
  const at = locate(fault.pos[0])
  refuse({ code: 'DOCUMENT_SYNTAX', thing: DOCUMENT, rule, finding: describeFault(fault), at })
}

function describeFault(fault: YAMLError): string {
  if (fault.code === 'TAB_AS_INDENT') return 'a tab as indentation; use spaces'
  if (fault.code === 'BLOCK_AS_IMPLICIT_KEY') {
    return 'a map within a line; text that ends in a colon needs quotes'
  }
  return `a fault: ${fault.message.split('\n', 1).join('')}`
}
