/** Where a command writes: lines for people, or one JSON value for programs. */
import { HeadgateError } from '../core/errors.ts'
import type { SecretFileListener } from '../documents/secret-file.ts'
import type { CommandCall } from './command.ts'

export interface Terminal {
  /** A line of the command's answer. */
  out(text: string): void
  /** The command's answer, where it is not lines of text. */
  bytes(data: Uint8Array): void
  /** What is not the answer: mistakes and warnings. */
  err(text: string): void
  /** Shown in place of the status before, where a person watches; nothing else has its line. */
  status?(text: string): void
  /** The log of a server; standard error unless given. */
  readonly log?: { write(line: string): void }
}

/**
 * Reasons, labels and proofs come from others: what would move the cursor, colour the screen or turn the
 * direction of text is written as an escape, which in JSON means the same.
 */
export const guarded = (terminal: Terminal): Terminal => ({
  ...terminal,
  out: (text) => terminal.out(visible(text)),
  err: (text) => terminal.err(visible(text)),
})

const visible = (text: string): string => text.replace(UNSEEN, escaped)

/** Control characters but for line breaks and tabs, which are ours, and marks of direction. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** The body whole for programs, a sentence or a table for people. */
export const tell = <Body extends object>(
  { flags, terminal }: Pick<CommandCall, 'flags' | 'terminal'>,
  body: Body,
  describe: (body: Body) => string,
): void => {
  if (flags.has('json')) terminal.out(JSON.stringify(body, undefined, 2))
  else terminal.out(describe(body))
}

/** Columns as wide as their widest cell. Nothing is cut: ids must be readable whole. */
export const table = (given: readonly (readonly string[])[]): string => {
  // A line break in a cell would look like another row.
  const rows = given.map((row) => row.map((cell) => visible(cell).replace(/[\n\t]/g, escaped)))
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length)
    }
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** A page as a table, or `none`; with the flag that asks for the next page. */
export const pageTable = (
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  next: string | number | undefined,
): string => {
  const shown = rows.length === 0 ? 'none' : table([headings, ...rows])
  return [shown, ...(next === undefined ? [] : [`more: --after ${next}`])].join('\n')
}

/** The first few, and how many more: a long list of names says less than its length. */
export const brief = (names: readonly string[], most: number): string => {
  const more = names.length - most
  const shown = names.slice(0, most).join(', ')
  return more > 0 ? `${shown} and ${more} more` : shown
}

/** For files with secrets that a group can read. */
export const warnOfSharedSecret =
  (terminal: Terminal): SecretFileListener =>
  (warning) =>
    terminal.err(`warning ${warning.code}: ${new HeadgateError(warning).message}`)
