/** The words after a command, sorted into flags and operands and checked against what it takes. */
import { parseArgs } from 'node:util'
import { quote, suggestion } from '../documents/index.ts'
import { refuseCall } from './cli-mistake.ts'
import { type Command, type Flag, usageOf } from './command.ts'

export interface FlagValues {
  /** Of a flag with a value; undefined if it was not given. */
  text(name: string): string | undefined
  /** Whether it was given, switch or not. */
  has(name: string): boolean
}

export interface Words {
  readonly flags: FlagValues
  readonly operands: readonly string[]
}

export const readWords = (command: Command, words: readonly string[]): Words => {
  const given = new Map<string, string>()
  const operands: string[] = []
  for (const token of tokenise(command.flags, words)) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option') continue
    const { flag, value } = readFlag(command, token)
    if (given.has(flag.name)) {
      refuseCall({ code: 'FLAG_REPEATED', thing: token.rawName, rule: 'may stand once' })
    }
    given.set(flag.name, value)
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
function tokenise(flags: readonly Flag[], args: readonly string[]) {
  const options = Object.fromEntries(
    flags.map(({ name, value }) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  return parseArgs({ args: [...args], options, strict: false, tokens: true }).tokens
}

function readFlag(command: Command, token: OptionToken): { flag: Flag; value: string } {
  const flag = command.flags.find(
    ({ name }) => name === token.name && token.rawName === `--${name}`,
  )
  if (flag === undefined) return refuseUnknown(command, token.rawName)
  const { value = '', inlineValue = false } = token
  if (flag.value === undefined) {
    if (!inlineValue) return { flag, value }
    const finding = quote(value)
    const rule = 'is a switch and takes no value'
    return refuseCall({ code: 'FLAG_VALUE_INVALID', thing: token.rawName, rule, finding })
  }
  // `--cost --json`: the next flag was meant as a flag. A value like that can follow `=`.
  if (value === '' || (!inlineValue && value.startsWith('--'))) {
    const rule = `needs a value: ${token.rawName} ${flag.value}`
    refuseCall({ code: 'FLAG_VALUE_MISSING', thing: token.rawName, rule, finding: 'none' })
  }
  return { flag, value }
}

function refuseUnknown(command: Command, rawName: string): never {
  const known = command.flags.map(({ name }) => `--${name}`)
  return refuseCall({
    code: 'FLAG_UNKNOWN',
    thing: `headgate ${command.name}`,
    rule: known.length === 0 ? 'takes no flags' : `takes ${known.join(', ')}`,
    finding: `${rawName}${suggestion(rawName, known)}`,
  })
}

function checkOperands(command: Command, operands: readonly string[]): void {
  const missing = command.operands[operands.length]
  const rule = `is written ${usageOf(command)}`
  const thing = `headgate ${command.name}`
  if (missing !== undefined && missing.optional === undefined) {
    refuseCall({ code: 'OPERAND_MISSING', thing, rule, finding: `no ${missing.name}` })
  }
  const extra = operands[command.operands.length]
  if (extra === undefined || command.operands.at(-1)?.many) return
  refuseCall({ code: 'OPERAND_UNEXPECTED', thing, rule, finding: quote(extra) })
}
