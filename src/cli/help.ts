/** `headgate help`: every command, or one with its flags. */
import { quote, suggestion } from '../documents/index.ts'
import { refuseCall } from './cli-mistake.ts'
import { type Command, usageOf } from './command.ts'
import { JSON_FLAG, variableOfFlag } from './common-flags.ts'
import { table, writeJson } from './terminal.ts'

/** `all` is asked only when help is: the list holds help too. */
export const help = (all: () => readonly Command[]): Command => ({
  name: 'help',
  summary: 'Every command, or one command with its flags.',
  operands: [{ name: 'COMMAND', optional: true, many: true }],
  flags: [JSON_FLAG],
  run: async ({ operands, flags, terminal }) => {
    const asked = operands.join(' ')
    const found = all().filter(({ name }) => asked === '' || `${name} `.startsWith(`${asked} `))
    const [only, another] = found
    if (only === undefined) return refuseUnknown(asked, all())
    if (flags.has('json')) writeJson(terminal, { commands: found.map(describe) })
    else terminal.out(another === undefined ? describeOne(only) : describeAll(found))
    return 0
  },
})

function describeAll(commands: readonly Command[]): string {
  const rows = commands.map((command) => [
    `  ${usageOf(command).replace(' [flags]', '')}`,
    command.summary,
  ])
  const more = 'Flags of a command: headgate help COMMAND. Exit: 0 done, 1 error, 2 refused.'
  return ['Commands:', table(rows), '', more].join('\n')
}

function describeOne(command: Command): string {
  const rows = command.flags.map(({ name, value, summary }) => {
    const variable = variableOfFlag(name)
    const environment = variable === undefined ? '' : ` [${variable}]`
    return [`  --${name}${value === undefined ? '' : ` ${value}`}`, `${summary}${environment}`]
  })
  const flags = rows.length === 0 ? [] : ['', 'Flags:', table(rows)]
  return [`Usage: ${usageOf(command)}`, '', command.summary, ...flags].join('\n')
}

const describe = (command: Command) => ({
  name: command.name,
  usage: usageOf(command),
  summary: command.summary,
  flags: command.flags,
})

function refuseUnknown(asked: string, commands: readonly Command[]): never {
  const names = commands.map(({ name }) => name)
  return refuseCall({
    code: 'COMMAND_UNKNOWN',
    thing: 'the command',
    rule: `must be one of ${names.join(', ')}`,
    finding: `${quote(asked)}${suggestion(asked, names)}`,
  })
}
