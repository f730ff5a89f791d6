/** The words after a command: sorted into flags and operands, checked, and read. */
import { parseArgs } from 'node:util'
import { quote } from '../core/errors.ts'
import type { Instant } from '../core/time.ts'
import { suggestion } from '../documents/field.ts'
import { flagsOf } from '../documents/settings/reference.ts'
import { flagNameOf, isSection, type SettingsTable } from '../documents/settings/table.ts'
import { MOMENT_RULE, parseMoment } from '../lib/moments.ts'
import { type FlagTexts, SERVER_SETTINGS, SIGNER_SETTINGS } from '../server/api.ts'
import {
  type CliCommand,
  type CommandCall,
  type FlagSpec,
  refuseCall,
  usageLine,
} from './command.ts'

export const JSON_FLAG: FlagSpec = { name: 'json', summary: 'Answer in JSON.' }

/** Which catalog and which store. */
export const LOCAL_FLAGS: readonly FlagSpec[] = flagsOf(SERVER_SETTINGS, [
  'configFile',
  'store',
  'defaultsFile',
  'overridesFile',
  'skipUnmatchable',
])

export const SERVER_FLAG: FlagSpec = {
  name: 'server',
  value: 'URL',
  summary: 'Ask this server instead of opening the store.',
}

/** For commands that open the store here, or ask a server. */
export const ASKING_FLAGS: readonly FlagSpec[] = [
  ...LOCAL_FLAGS,
  SERVER_FLAG,
  {
    name: 'token',
    value: 'TOKEN',
    summary: 'The token for that server; better in the environment.',
  },
  JSON_FLAG,
]

export const AFTER_FLAG: FlagSpec = {
  name: 'after',
  value: 'NEXT',
  summary: 'Go on where the page before ended.',
}

export const LIMIT_FLAG: FlagSpec = { name: 'limit', value: 'N', summary: 'How many; 100.' }

/** The variable that means the same as a flag, for help; undefined if there is none. */
export const variableOfFlag = (name: string): string | undefined => {
  if (name === 'server' || name === 'token') return `HEADGATE_${name.toUpperCase()}`
  const entries = [SIGNER_SETTINGS, SERVER_SETTINGS].flatMap((table) => Object.values(table))
  const found = entries.find((entry) => !isSection(entry) && flagNameOf(entry) === name)
  return found === undefined || isSection(found) ? undefined : found.variable
}

export interface FlagValues {
  /** Of a flag with a value; undefined if it was not given. */
  text(name: string): string | undefined
  /** Whether it was given, switch or not. */
  has(name: string): boolean
}

/** Of the flags that were given, those that are settings of a server. */
export const settingsFlags = (flags: FlagValues): FlagTexts => flagTexts(SERVER_SETTINGS, flags)

/** Of the flags that were given, those of a table; a switch is `true`. */
export const flagTexts = (
  table: SettingsTable,
  flags: FlagValues,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    flagsOf(table).flatMap(({ name, value }) => {
      const text = value === undefined && flags.has(name) ? 'true' : flags.text(name)
      return text === undefined ? [] : [[name, text]]
    }),
  )

/** Those of the flags named that were given. */
export const pickTexts = <Name extends string>(
  flags: FlagValues,
  names: readonly Name[],
): { readonly [N in Name]?: string } => {
  const texts: { [N in Name]?: string } = {}
  for (const name of names) {
    const text = flags.text(name)
    if (text !== undefined) texts[name] = text
  }
  return texts
}

export const requireFlag = ({ flags }: CommandCall, name: string): string => {
  const text = flags.text(name)
  if (text !== undefined) return text
  const rule = 'must be given'
  return refuseCall({ code: 'FLAG_VALUE_MISSING', thing: `--${name}`, rule, finding: 'none' })
}

export const refuseValue = (thing: string, rule: string, text: string, cause?: unknown): never =>
  refuseCall({ code: 'FLAG_VALUE_INVALID', thing, rule, finding: quote(text) }, cause)

export const readNumber = (text: string, thing: string): number => {
  const number = Number(text)
  if (/^-?\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(text) && Number.isFinite(number)) return number
  return refuseValue(thing, 'must be a number', text)
}

export const readWord = <Word extends string>(
  text: string,
  thing: string,
  words: readonly Word[],
): Word =>
  words.find((word) => word === text) ??
  refuseValue(thing, `must be one of ${words.join(', ')}`, text)

interface WholeBounds {
  readonly least: number
  readonly most: number
}

/** A whole number; undefined if the flag was not given. */
export const readWhole = (
  flags: FlagValues,
  name: string,
  { least, most }: WholeBounds,
): number | undefined => {
  const text = flags.text(name)
  if (text === undefined) return undefined
  const number = /^\d{1,16}$/.test(text) ? Number(text) : -1
  if (number >= least && number <= most) return number
  return refuseValue(`--${name}`, `must be a whole number from ${least} to ${most}`, text)
}

/** `ahead` counts a duration from now on, `ago` back from now. Undefined if the flag was not given. */
export const readMomentFlag = (
  call: CommandCall,
  name: string,
  direction: 'ahead' | 'ago',
): Instant | undefined => {
  const text = call.flags.text(name)
  return text === undefined ? undefined : momentFrom(call, text, `--${name}`, direction)
}

export const momentFrom = (
  { clock }: Pick<CommandCall, 'clock'>,
  text: string,
  thing: string,
  direction: 'ahead' | 'ago',
): Instant => parseMoment(text, clock(), direction) ?? refuseValue(thing, MOMENT_RULE, text)

interface Words {
  readonly flags: FlagValues
  readonly operands: readonly string[]
}

/** Sorts the words after a command into flags and operands. What it does not take is a mistake. */
export const readWords = (command: CliCommand, words: readonly string[]): Words => {
  const given = new Map<string, string>()
  const operands: string[] = []
  for (const token of tokenise(command.flags, words)) {
    if (token.kind === 'positional') operands.push(unmarked(token.value))
    if (token.kind !== 'option') continue
    const { flag, value } = readFlag(command, token)
    if (given.has(flag.name)) {
      refuseCall({ code: 'FLAG_REPEATED', thing: token.rawName, rule: 'may stand once' })
    }
    given.set(flag.name, unmarked(value))
  }
  checkOperands(command, operands)
  const flags = { text: (name: string) => given.get(name), has: (name: string) => given.has(name) }
  return { flags, operands }
}

interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

/** Not strict: Node's own messages would name neither the command nor a better spelling. */
function tokenise(flags: readonly FlagSpec[], args: readonly string[]) {
  const options = Object.fromEntries(
    flags.map(({ name, value }) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  const end = args.indexOf('--')
  const marked = args.map((word, at) =>
    isOperand(word) && (end < 0 || at < end) ? `${MARK}${word}` : word,
  )
  return parseArgs({ args: marked, options, strict: false, tokens: true }).tokens
}

/** Node would take `-1` for a flag, and an id that Headgate made and that begins with a dash. */
const isOperand = (word: string): boolean =>
  /^-\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(word) || /^-(?=.*[A-Z\d_])[\w-]{15,}$/.test(word)

/** No word of a command line can hold it. */
const MARK = '\0'

const unmarked = (word: string): string => (word.startsWith(MARK) ? word.slice(1) : word)

function readFlag(command: CliCommand, token: OptionToken): { flag: FlagSpec; value: string } {
  const flag = command.flags.find(
    ({ name }) => name === token.name && token.rawName === `--${name}`,
  )
  if (flag === undefined) return refuseUnknownFlag(command, token.rawName)
  const { value = '', inlineValue = false } = token
  if (flag.value === undefined) {
    if (!inlineValue) return { flag, value }
    return refuseValue(token.rawName, 'is a switch and takes no value', value)
  }
  // `--cost --json`: the next flag was meant as a flag. A value like that can follow `=`.
  if (value === '' || (!inlineValue && value.startsWith('--'))) {
    const rule = `needs a value: ${token.rawName} ${flag.value}`
    refuseCall({ code: 'FLAG_VALUE_MISSING', thing: token.rawName, rule, finding: 'none' })
  }
  return { flag, value }
}

function refuseUnknownFlag(command: CliCommand, rawName: string): never {
  const known = command.flags.map(({ name }) => `--${name}`)
  return refuseCall({
    code: 'FLAG_UNKNOWN',
    thing: `headgate ${command.name}`,
    rule: known.length === 0 ? 'takes no flags' : `takes ${known.join(', ')}`,
    finding: `${rawName}${suggestion(rawName, known)}`,
  })
}

function checkOperands(command: CliCommand, operands: readonly string[]): void {
  const missing = command.operands[operands.length]
  const rule = `is written ${usageLine(command)}`
  const thing = `headgate ${command.name}`
  if (missing !== undefined && missing.optional === undefined) {
    refuseCall({ code: 'OPERAND_MISSING', thing, rule, finding: `no ${missing.name}` })
  }
  const extra = operands[command.operands.length]
  if (extra === undefined || command.operands.at(-1)?.many) return
  refuseCall({ code: 'OPERAND_UNEXPECTED', thing, rule, finding: quote(extra) })
}
