/** Flags that several commands share, and the options they stand for. */
import { ODIS_OPTION_NAMES, odisVariableOf } from '../server/odis/option-names.ts'
import { type Flags, OPTION_NAMES, variableOf } from '../server/options.ts'
import type { Flag } from './command.ts'
import type { FlagValues } from './flag-values.ts'

export const JSON_FLAG: Flag = { name: 'json', summary: 'Answer in JSON.' }

/** What leads to a catalog and a store. */
export const LOCAL_FLAGS: readonly Flag[] = [
  { name: 'config', value: 'FILE', summary: 'headgate.yml; ./headgate.yml if it is there.' },
  { name: 'store', value: 'URL', summary: 'memory: or sqlite:PATH; sqlite:./headgate.db.' },
  { name: 'defaults', value: 'FILE', summary: 'The rates of limits, in a file of their own.' },
  { name: 'overrides', value: 'FILE', summary: 'Rates for single ids, in a file of their own.' },
]

export const SERVER_FLAG: Flag = {
  name: 'server',
  value: 'URL',
  summary: 'Ask this server instead of the store itself.',
}

export const REMOTE_FLAGS: readonly Flag[] = [
  SERVER_FLAG,
  {
    name: 'token',
    value: 'TOKEN',
    summary: 'What the server wants to see; better in the environment.',
  },
]

/** Of the flags that were given, those that are settings. */
export const settingsFlags = (flags: FlagValues): Flags =>
  Object.fromEntries(
    OPTION_NAMES.flatMap((name) => {
      const text = flags.text(name)
      return text === undefined ? [] : [[name, text]]
    }),
  )

/** The variable that says the same as a flag, for help; undefined if there is none. */
export const variableOfFlag = (name: string): string | undefined => {
  if (name === 'server' || name === 'token') return `HEADGATE_${name.toUpperCase()}`
  const odis = ODIS_OPTION_NAMES.find((candidate) => candidate === name)
  if (odis !== undefined) return odisVariableOf(odis)
  const option = OPTION_NAMES.find((candidate) => candidate === name)
  return option === undefined ? undefined : variableOf(option)
}
