/**
 * The caller's or operator's mistakes, each with a stable code.
 *
 * Refusal is not here: it is a value (`Decision`). Nor are our own bugs: they are assertions.
 */

/** Where in a document a mistake stands; line and column count from 1. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** What every message says: the thing, the rule it breaks, and what was found instead. */
export interface Mistake<Code extends string = string> {
  readonly code: Code
  readonly thing: string
  readonly rule: string
  readonly finding?: string | undefined
  readonly at?: Position | undefined
}

export class HeadgateError<Code extends string = string> extends Error {
  override readonly name: string = 'HeadgateError'
  readonly code: Code
  readonly thing: string
  readonly rule: string
  readonly finding: string | undefined
  readonly at: Position | undefined

  constructor(mistake: Mistake<Code>, options?: ErrorOptions) {
    super(describeMistake(mistake), options)
    this.code = mistake.code
    this.thing = mistake.thing
    this.rule = mistake.rule
    this.finding = mistake.finding
    this.at = mistake.at
  }
}

export type StoreErrorCode = 'STORE_UNAVAILABLE' | 'STORE_CONTENDED' | 'STORE_CLOSED'

/** The store is unwell. What follows from it is the policy of each limit, not the store's. */
export class StoreError extends HeadgateError<StoreErrorCode> {
  override readonly name = 'StoreError'
}

/** A bug of ours. Never caught on purpose. A message that costs something is given as a function. */
export function assert(condition: boolean, message: string | (() => string)): asserts condition {
  if (condition) return
  throw new Error(`assertion failed: ${typeof message === 'string' ? message : message()}`)
}

/** The system's word for why something failed (`ENOENT`): its message may quote contents. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'no reason'

export const describePosition = (at: Position): string => `${at.file}:${at.line}:${at.column}`

function describeMistake({ thing, rule, finding, at }: Mistake): string {
  const place = at === undefined ? '' : `${describePosition(at)}: `
  const found = finding === undefined ? '' : `, found ${finding}`
  return `${place}${thing}: ${rule}${found}`
}
