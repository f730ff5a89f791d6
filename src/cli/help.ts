/** `headgate help` and `headgate version`. */
import { quote } from '../core/errors.ts'
import { suggestion } from '../documents/field.ts'
import { VERSION } from '../server/api.ts'
import { type CliCommand, refuseCall, usageLine } from './command.ts'
import { JSON_FLAG, variableOfFlag } from './flags.ts'
import { table, tell } from './terminal.ts'

/** `all` is a function because the list holds help too. */
export const helpCommands = (all: () => readonly CliCommand[]): readonly CliCommand[] => [
  {
    name: 'version',
    summary: 'Which Headgate this is.',
    operands: [],
    flags: [JSON_FLAG],
    run: async (call) => {
      const facts = { headgate: VERSION, node: process.versions.node }
      tell(call, facts, ({ headgate, node }) => `headgate ${headgate} (Node ${node})`)
      return 0
    },
  },
  {
    name: 'help',
    summary: 'Every command, or one command with its flags.',
    operands: [{ name: 'COMMAND', optional: true, many: true }],
    flags: [JSON_FLAG],
    run: async (call) => {
      const asked = call.operands.join(' ')
      const found = all().filter(({ name }) => asked === '' || `${name} `.startsWith(`${asked} `))
      const [only, another] = found
      if (only === undefined) return refuseUnknown(asked, all())
      tell(call, { commands: found.map(toJson) }, () =>
        another === undefined ? describeOne(only) : describeAll(found),
      )
      return 0
    },
  },
]

function describeAll(commands: readonly CliCommand[]): string {
  const rows = commands.map((command) => [
    `  ${usageLine(command).replace(' [flags]', '')}`,
    command.summary,
  ])
  const more = 'Flags of a command: headgate help COMMAND. Exit: 0 done, 1 error, 2 refused.'
  return ['Commands:', table(rows), '', more].join('\n')
}

function describeOne(command: CliCommand): string {
  const rows = command.flags.map(({ name, value, summary }) => {
    const variable = variableOfFlag(name)
    const environment = variable === undefined ? '' : ` [${variable}]`
    return [`  --${name}${value === undefined ? '' : ` ${value}`}`, `${summary}${environment}`]
  })
  const flags = rows.length === 0 ? [] : ['', 'Flags:', table(rows)]
  return [`Usage: ${usageLine(command)}`, '', command.summary, ...flags].join('\n')
}

const toJson = (command: CliCommand) => ({
  name: command.name,
  usage: usageLine(command),
  summary: command.summary,
  flags: command.flags,
})

function refuseUnknown(asked: string, commands: readonly CliCommand[]): never {
  const names = commands.map(({ name }) => name)
  return refuseCall({
    code: 'COMMAND_UNKNOWN',
    thing: 'the command',
    rule: `must be one of ${names.join(', ')}`,
    finding: `${quote(asked)}${suggestion(asked, names)}`,
  })
}
