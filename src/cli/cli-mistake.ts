/** The mistakes of those who type commands. */
import { HeadgateError, type Mistake } from '../core/index.ts'

/** Each has a heading in docs/reference/cli.md. */
export const CLI_ERROR_CODES = [
  'COMMAND_UNKNOWN',
  'FLAG_UNKNOWN',
  'FLAG_REPEATED',
  'FLAG_VALUE_MISSING',
  'FLAG_VALUE_INVALID',
  'OPERAND_MISSING',
  'OPERAND_UNEXPECTED',
  'DOCUMENT_KIND_UNKNOWN',
  'FILE_UNREADABLE',
  'SERVER_UNREACHABLE',
  'SERVER_ANSWER_INVALID',
] as const

export type CliErrorCode = (typeof CLI_ERROR_CODES)[number]

export const refuseCall = (mistake: Mistake<CliErrorCode>, cause?: unknown): never => {
  throw new HeadgateError(mistake, { cause })
}
