/** The key that an offline command acts by: the one that is named, or that of the server here. */
import { loadConfiguration } from '../server/configuration.ts'
import { openIdentity } from '../server/subjects/open-identity.ts'
import { subjectsOff } from '../server/subjects/subjects-off.ts'
import type { Identity } from '../subjects/index.ts'
import type { Call } from './command.ts'
import { settingsFlags } from './common-flags.ts'
import { readSecret } from './ucan-key.ts'

/** Makes the server's key if it has none yet, as its first start would. */
export const openKey = async (call: Call): Promise<Identity> => {
  if (call.flags.has('key')) {
    const { parseIdentity } = await import('../subjects/index.ts')
    return parseIdentity((await readSecret(call)) ?? '')
  }
  const { flags, environment } = call
  const { settings } = await loadConfiguration({ flags: settingsFlags(flags), environment })
  const identity = await openIdentity(settings, environment)
  if (identity === undefined) throw subjectsOff()
  return identity
}
