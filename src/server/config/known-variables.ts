/** Every `HEADGATE_*` variable that is read; one that is not is a typing mistake. */
import { suggestion } from '../../documents/field.ts'
import type { Environment } from '../../documents/settings/reader.ts'
import { variablesOf } from '../../documents/settings/reference.ts'
import type { SettingsTable } from '../../documents/settings/table.ts'
import { SIGNER_SETTINGS } from '../secrets/config.ts'
import { UCAN_KEY_VARIABLE } from '../subjects/config.ts'
import { refuseConfig } from './config-mistake.ts'
import { isServiceLink } from './options.ts'
import { SERVER_SETTINGS } from './settings.ts'

/** Those that hold no setting, and what they are for. */
export const OTHER_VARIABLES = {
  HEADGATE_SERVER: 'The server that a command asks instead of the store.',
  HEADGATE_TOKEN: 'The token that a command shows to that server.',
  [UCAN_KEY_VARIABLE]: 'The key of the [service of rates](#subjects) itself.',
  HEADGATE_ODIS_SECRET: 'A secret, for `--key-secret env:HEADGATE_ODIS_SECRET`.',
  HEADGATE_PROVE: "Read by the project's own tests.",
}

export const knownVariables = (
  tables: readonly SettingsTable[] = [SERVER_SETTINGS, SIGNER_SETTINGS],
): readonly string[] => [
  ...new Set([...tables.flatMap(variablesOf), ...Object.keys(OTHER_VARIABLES)]),
]

export const refuseUnknownVariables = (environment: Environment): void => {
  const known = knownVariables()
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith('HEADGATE_') || known.includes(name)) continue
    if (isServiceLink(name, value)) continue
    refuseConfig({
      code: 'ENVIRONMENT_UNKNOWN',
      thing: 'the environment',
      rule: `may hold, of HEADGATE_*, only ${known.join(', ')}`,
      finding: `${name}${suggestion(name, known)}`,
    })
  }
}
