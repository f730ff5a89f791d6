/** The defaults document: a map from the name of a limit to its burst, count and period. */
import type { Position } from '../core/errors.ts'
import { type Node, readEntries, readFields } from '../documents/index.ts'
import { knownLimit } from './known-limit.ts'
import { RATE_FIELDS, type Rate, readRate } from './rate.ts'

export interface DefaultRate {
  readonly name: string
  readonly rate: Rate
  readonly at: Position
}

/** An empty map is a document too: it leaves every limit disabled. */
export const readDefaults = (
  document: Node,
  known: ReadonlyMap<string, unknown>,
): readonly DefaultRate[] =>
  readEntries({ thing: 'defaults', node: document }).map(({ name, nameAt, node }) => {
    knownLimit(name, known, nameAt)
    const fields = readFields({ thing: name, node }, { required: RATE_FIELDS, optional: [] })
    return { name, rate: readRate(fields, name), at: nameAt }
  })
