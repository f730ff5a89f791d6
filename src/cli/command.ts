/** What a command is: its words, its flags, what it runs in and what it does. */
import { type ThrowMistake, throwMistake } from '../core/errors.ts'
import type { Clock } from '../core/time.ts'
import type { Environment } from '../documents/settings/reader.ts'
import type { SettingFlag } from '../documents/settings/reference.ts'
import type { FlagValues } from './flags.ts'
import type { Terminal } from './terminal.ts'

/** 0 done, 1 error, 2 refused by a limit. */
export type ExitCode = 0 | 1 | 2

export interface CliCommand {
  /** One word to three: `serve`, `limits list`, `odis keys import`. */
  readonly name: string
  readonly summary: string
  readonly operands: readonly Operand[]
  readonly flags: readonly FlagSpec[]
  /** It changes nothing: then a SQLite file need be neither free nor writable. */
  readonly onlyLooks?: true
  run(call: CommandCall): Promise<ExitCode>
}

export interface Operand {
  readonly name: string
  readonly optional?: true
  /** Takes all that follow; only the last operand may. */
  readonly many?: true
}

/** Of a setting, or of the command alone. */
export type FlagSpec = SettingFlag

/** All that a command knows of the world outside its store. */
export interface Surroundings {
  readonly environment: Environment
  readonly terminal: Terminal
  /** For durations that count from now. */
  readonly clock: Clock
  readonly signals: Signals
}

export interface CommandCall extends Surroundings {
  readonly onlyLooks: boolean
  readonly operands: readonly string[]
  readonly flags: FlagValues
}

/** How the system tells a server to reload and to end. */
export interface Signals {
  onReload(reload: () => void): void
  /** Resolves with the name of the first signal to end. */
  ended(): Promise<string>
}

/** `headgate limits show LIMIT [ID] [flags]`. */
export const usageLine = ({ name, operands, flags }: CliCommand): string => {
  const words = operands.map((operand) => {
    const word = operand.many ? `${operand.name}…` : operand.name
    return operand.optional ? `[${word}]` : word
  })
  return ['headgate', name, ...words, ...(flags.length > 0 ? ['[flags]'] : [])].join(' ')
}

/** The mistakes of a caller. Each has a heading in docs/reference/cli.md. */
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
  'FILE_UNWRITABLE',
  'SERVER_UNREACHABLE',
  'SERVER_ANSWER_INVALID',
] as const

type CliErrorCode = (typeof CLI_ERROR_CODES)[number]

export const refuseCall: ThrowMistake<CliErrorCode> = throwMistake
