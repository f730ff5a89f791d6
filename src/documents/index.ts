/** Strict documents: YAML or JSON text to a tree with positions, and readers over it. */
export { MAX_NODES } from './build-tree.ts'
export { MAX_DEPTH, MAX_DOCUMENT_LENGTH, parseDocument } from './document.ts'
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
