/** Finds the command that the words name, runs it, and turns what it throws into words. */
import { HeadgateError } from '../core/index.ts'
import { quote, suggestion } from '../documents/index.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Call, Command, ExitCode } from './command.ts'
import { COMMANDS } from './commands.ts'
import { readWords } from './flag-values.ts'
import type { Terminal } from './terminal.ts'

export type Surroundings = Pick<Call, 'environment' | 'terminal'>

/** Never throws: what went wrong is on the terminal, and in the exit code. */
export const runCommand = async (
  words: readonly string[],
  surroundings: Surroundings,
): Promise<ExitCode> => {
  try {
    const { command, rest } = findCommand(words)
    return await command.run({ ...readWords(command, rest), ...surroundings })
  } catch (error) {
    tell(error, words.includes('--json'), surroundings.terminal)
    return 1
  }
}

function findCommand(words: readonly string[]): { command: Command; rest: readonly string[] } {
  const asked = canonical(words)
  for (const length of [2, 1]) {
    const name = asked.slice(0, length).join(' ')
    const command = COMMANDS.find((candidate) => candidate.name === name)
    if (command !== undefined) return { command, rest: asked.slice(length) }
  }
  return refuseUnknown(asked)
}

/** No words, `-h`, `--help` anywhere and `--version` are ways to say `help` and `version`. */
function canonical(words: readonly string[]): readonly string[] {
  const [first] = words
  if (first === '--version' || first === '-v') return ['version', ...words.slice(1)]
  const beforeDashes = words.includes('--') ? words.slice(0, words.indexOf('--')) : words
  const wantsHelp = beforeDashes.some((word) => word === '--help' || word === '-h')
  if (first !== undefined && !wantsHelp) return words
  return ['help', ...beforeDashes.filter((word) => !word.startsWith('-') && word !== 'help')]
}

function refuseUnknown(words: readonly string[]): never {
  const names = COMMANDS.map(({ name }) => name)
  const [first = ''] = words
  const family = names.filter((name) => name.startsWith(`${first} `))
  const typed = words.slice(0, family.length > 0 ? 2 : 1).join(' ')
  return refuseCall({
    code: 'COMMAND_UNKNOWN',
    thing: 'the command',
    rule: `must be one of ${(family.length > 0 ? family : names).join(', ')}`,
    finding: `${quote(typed)}${suggestion(typed, names)}`,
  })
}

function tell(error: unknown, asJson: boolean, terminal: Terminal): void {
  const told = describe(error)
  if (asJson) terminal.err(JSON.stringify({ error: told }))
  else terminal.err(`error ${told.code}: ${told.message}`)
}

type Told = Pick<HeadgateError, 'code' | 'message'> &
  Partial<Pick<HeadgateError, 'thing' | 'rule' | 'finding' | 'at'>>

/** What is not a mistake of the caller is a fault of ours, and its stack is what helps to mend it. */
function describe(error: unknown): Told {
  if (error instanceof HeadgateError) {
    const { code, message, thing, rule, finding, at } = error
    return { code, message, thing, rule, finding, at }
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'INTERNAL', message: `a fault in Headgate: ${stack}` }
}
