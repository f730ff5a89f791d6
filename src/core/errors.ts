/**
 * The caller's or operator's mistakes, each with a stable code.
 *
 * Refusal is not here: it is a value (`Decision`). Nor are our own bugs: they are assertions.
 */

/** Where in a document a mistake stands; line and column count from 1; 0 where there is no text. */
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

export type StoreErrorCode =
  | 'STORE_UNAVAILABLE'
  | 'STORE_CONTENDED'
  | 'STORE_CLOSED'
  | 'STORE_FENCED'
  | 'CLOCK_UNTRUSTED'

/** The store is unwell, or its clock is not to be trusted here. What follows from it is the policy of each limit, not the store's. */
export class StoreError extends HeadgateError<StoreErrorCode> {
  override readonly name = 'StoreError'
}

export type PeerErrorCode = 'PEER_MISSING'

/** What `thing` needs is not installed: an optional peer, which programs that use it install. */
export const peerMissing = (
  thing: string,
  packages: readonly string[],
  cause?: unknown,
): HeadgateError<PeerErrorCode> =>
  new HeadgateError(
    {
      code: 'PEER_MISSING',
      thing,
      rule: `needs what is not installed here: npm install ${packages.join(' ')}`,
    },
    becauseOf(cause),
  )

/** A bug of ours. Never caught on purpose. A message that costs something is given as a function. */
export function assert(condition: boolean, message: string | (() => string)): asserts condition {
  if (condition) return
  throw new Error(`assertion failed: ${typeof message === 'string' ? message : message()}`)
}

/** One for each room: it takes only the codes of that room. */
export type ThrowMistake<Code extends string> = (mistake: Mistake<Code>, cause?: unknown) => never
export type MakeMistake<Code extends string> = (
  code: Code,
  thing: string,
  rule: string,
  finding?: string,
  cause?: unknown,
) => HeadgateError<Code>

/** A room gives it a name and its own codes: `const refuseKey: ThrowMistake<KeyErrorCode> = throwMistake`. */
export const throwMistake: ThrowMistake<string> = (mistake, cause) => {
  throw new HeadgateError(mistake, becauseOf(cause))
}

/** The same for code that throws for itself: `const mistake: MakeMistake<SpendingErrorCode> = makeMistake`. */
export const makeMistake = <Code extends string>(
  code: Code,
  thing: string,
  rule: string,
  finding?: string,
  cause?: unknown,
): HeadgateError<Code> => new HeadgateError({ code, thing, rule, finding }, becauseOf(cause))

/** A message is read by a person: text from outside is cut after this many characters. */
const MAX_FINDING = 80

/** Text from outside as a finding: in quotes, safe to print on one line. */
export const quote = (text: string): string => JSON.stringify(clip(text))

/** The same without quotes, for text that is known to have no line break. */
export const clip = (text: string): string =>
  text.length <= MAX_FINDING ? text : `${text.slice(0, MAX_FINDING)}…`

/** The system's word for why something failed (`ENOENT`): its message may quote contents. */
export const systemCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'no reason'

/** A value that came from a program instead of a text has no line. */
export const describePosition = ({ file, line, column }: Position): string =>
  line === 0 ? file : `${file}:${line}:${column}`

/** Without a cause, the error must not print one as undefined. */
const becauseOf = (cause: unknown): ErrorOptions | undefined =>
  cause === undefined ? undefined : { cause }

function describeMistake({ thing, rule, finding, at }: Mistake): string {
  const place = at === undefined ? '' : `${describePosition(at)}: `
  const found = finding === undefined ? '' : `, found ${finding}`
  return `${place}${thing}: ${rule}${found}`
}
