/** Looking up a limit by the name that a document or a caller gives. */
import type { Position } from '../core/errors.ts'
import { quote, suggestion } from '../documents/index.ts'
import { refuseCatalog } from './catalog-mistake.ts'

/** A name that nobody declared is a mistake, never a limit that happens to be off. */
export const knownLimit = <T>(name: string, known: ReadonlyMap<string, T>, at?: Position): T => {
  const found = known.get(name)
  if (found !== undefined) return found
  return refuseCatalog({
    code: 'LIMIT_UNKNOWN',
    thing: 'the name of a limit',
    rule: 'must be built in or declared under limits',
    finding: `${quote(name)}${suggestion(name, known.keys())}`,
    ...(at === undefined ? {} : { at }),
  })
}
