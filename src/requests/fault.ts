/** The outcome of parsing an id: its canonical text, or the rule that it breaks. */

export interface Fault {
  /** Completes the sentence "the id …". */
  readonly rule: string
}

/** A union with plain text, so that the common case allocates nothing. */
export type Parsed = string | Fault

export const fault = (rule: string): Fault => ({ rule })
