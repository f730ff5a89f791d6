/** Finds the command that the words name, runs it, and turns what it throws into words. */
import { HeadgateError, quote } from '../core/errors.ts'
import { suggestion } from '../documents/field.ts'
import { Mistakes } from '../documents/mistakes.ts'
import { type CliCommand, type ExitCode, refuseCall, type Surroundings } from './command.ts'
import { decideCommands } from './decide.ts'
import { readWords } from './flags.ts'
import { helpCommands } from './help.ts'
import { keyCommands } from './keys.ts'
import { ledgerCommands } from './ledger.ts'
import { limitCommands } from './limits.ts'
import { lintCommands } from './lint.ts'
import { odisCommands } from './odis.ts'
import { planCommands } from './plans.ts'
import { proofCommands } from './proofs.ts'
import { rateListCommands } from './rate-lists.ts'
import { rateCommands } from './rates.ts'
import { serveCommands } from './serve.ts'
import { spendingCommands } from './spending.ts'
import { storeCommands } from './store.ts'
import { guarded, type Terminal } from './terminal.ts'
import { tokenCommands } from './tokens.ts'

/** In the order of help. Each has a heading in docs/reference/cli.md. */
export const COMMANDS: readonly CliCommand[] = [
  ...serveCommands,
  ...decideCommands,
  ...limitCommands,
  ...rateCommands,
  ...rateListCommands,
  ...proofCommands,
  ...keyCommands,
  ...planCommands,
  ...spendingCommands,
  ...ledgerCommands,
  ...storeCommands,
  ...lintCommands,
  ...tokenCommands,
  ...odisCommands,
  ...helpCommands(() => COMMANDS),
]

/** Never throws: what went wrong is on the terminal, and in the exit code. */
export const runCommand = async (
  words: readonly string[],
  surroundings: Surroundings,
): Promise<ExitCode> => {
  const terminal = guarded(surroundings.terminal)
  try {
    const { command, rest } = findCommand(words)
    const onlyLooks = command.onlyLooks === true
    return await command.run({ ...readWords(command, rest), ...surroundings, terminal, onlyLooks })
  } catch (error) {
    report(error, words.includes('--json'), terminal)
    return 1
  }
}

function findCommand(words: readonly string[]): { command: CliCommand; rest: readonly string[] } {
  const asked = canonical(words)
  for (const length of [3, 2, 1]) {
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
  const [one, two] = [words.slice(0, 1).join(' '), words.slice(0, 2).join(' ')]
  const three = names.some((name) => name.startsWith(`${two} `)) && words.slice(0, 3).join(' ')
  const typed = family.length === 0 ? one : three || two
  const known = family.length > 0 ? family : names
  return refuseCall({
    code: 'COMMAND_UNKNOWN',
    thing: 'the command',
    rule: `must be one of ${known.join(', ')}`,
    finding: `${quote(typed)}${suggestion(typed, known)}`,
  })
}

/** Of several mistakes every one: `error` is the first, and `errors` has all. */
function report(error: unknown, asJson: boolean, terminal: Terminal): void {
  const all = error instanceof Mistakes ? error.all.map(factsOf) : [factsOf(error)]
  const [first] = all
  const others = all.length > 1 ? { errors: all } : {}
  if (asJson) terminal.err(JSON.stringify({ error: first, ...others }))
  else for (const { code, message } of all) terminal.err(`error ${code}: ${message}`)
}

type ErrorFacts = Pick<HeadgateError, 'code' | 'message'> &
  Partial<Pick<HeadgateError, 'thing' | 'rule' | 'finding' | 'at'>>

/** What is not a mistake of the caller is a fault of ours, and its stack helps to mend it. */
function factsOf(error: unknown): ErrorFacts {
  if (error instanceof HeadgateError) {
    const { code, message, thing, rule, finding, at } = error
    return { code, message, thing, rule, finding, at }
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: 'INTERNAL', message: `a fault in Headgate: ${stack}` }
}
