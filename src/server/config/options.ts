/** Flags and `HEADGATE_*` variables, read by the table of the settings they are for. */
import type { Environment, GivenText } from '../../documents/settings/reader.ts'
import {
  findText,
  fromTexts,
  type Given,
  type Setting,
  type SettingsTable,
  type TextSources,
} from '../../documents/settings/table.ts'

const CODE = 'OPTION_INVALID'

/** Flags win over variables. Relative file names start from `folder`; without one they stay as written. */
export const readOptions = <T extends SettingsTable>(
  table: T,
  sources: TextSources,
  folder?: string,
): Given<T> =>
  fromTexts(table, ours(sources), { code: CODE, ...(folder !== undefined && { folder }) })

/** The text of one option, with the name of its flag or variable; undefined if it is not given. */
export const findOption = (setting: Setting, sources: TextSources): GivenText | undefined =>
  findText(setting, ours(sources), { code: CODE })

/**
 * Kubernetes sets such variables in every pod for each service; for one called `headgate` they
 * begin like ours, and `HEADGATE_PORT` is then an address. No operator wrote them, so they are
 * neither read nor refused.
 */
export const isServiceLink = (name: string, value: string | undefined): boolean => {
  if (/_SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)$/.test(name)) return true
  if (/_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(name)) return true
  return name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value ?? '')
}

const ours = ({ flags, environment = {} }: TextSources): TextSources => ({
  flags,
  environment: withoutServiceLinks(environment),
})

const withoutServiceLinks = (environment: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment).filter(([name, value]) => !isServiceLink(name, value)),
  )
