/**
 * Strict documents: a tree with positions, and readers over it. Whoever makes a tree from text takes
 * `document.ts` or `json.ts`: the YAML library loads slower than most commands run.
 */
export {
  type Field,
  type Fields,
  type NamedField,
  readEntries,
  readFields,
  readList,
  refuseField,
  type Shape,
} from './field.ts'
export { type DocumentErrorCode, refuse } from './mistake.ts'
export { nearestName, suggestion } from './nearest.ts'
export {
  describeNode,
  isNothing,
  isUnquotedText,
  type ListNode,
  type MapEntry,
  type MapNode,
  type Node,
  quote,
  type ScalarNode,
} from './node.ts'
export {
  MAX_TEXT_LENGTH,
  type Range,
  readBoolean,
  readDuration,
  readOneOf,
  readPositive,
  readText,
  readWholeNumber,
} from './scalars.ts'
