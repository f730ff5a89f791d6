/** What a command is: its words, its flags, and what it does. Help and the checks read the same. */
import type { Environment } from '../server/options.ts'
import type { FlagValues } from './flag-values.ts'
import type { Terminal } from './terminal.ts'

/** 0 done, 1 error, 2 refused by a limit. */
export type ExitCode = 0 | 1 | 2

export interface Flag {
  readonly name: string
  /** What stands for its value in help; absent: the flag is a switch and has none. */
  readonly value?: string
  readonly summary: string
}

export interface Operand {
  readonly name: string
  readonly optional?: true
  /** Takes all that follow; only the last operand may. */
  readonly many?: true
}

export interface Call {
  readonly operands: readonly string[]
  readonly flags: FlagValues
  readonly environment: Environment
  readonly terminal: Terminal
}

export interface Command {
  /** One word or two: `serve`, `limits list`. */
  readonly name: string
  readonly summary: string
  readonly operands: readonly Operand[]
  readonly flags: readonly Flag[]
  run(call: Call): Promise<ExitCode>
}

export const usageOf = ({ name, operands, flags }: Command): string => {
  const words = operands.map((operand) => {
    const word = operand.many ? `${operand.name}…` : operand.name
    return operand.optional ? `[${word}]` : word
  })
  return ['headgate', name, ...words, ...(flags.length > 0 ? ['[flags]'] : [])].join(' ')
}
