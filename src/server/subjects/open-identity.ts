/** Who a server is: the key from the environment, from its file, or made now and kept. */
import type { Identity } from '../../subjects/index.ts'
import { type Log, SILENT } from '../log.ts'
import type { Environment } from '../options.ts'
import { tellShared } from '../secret-warnings.ts'
import type { Settings } from '../settings.ts'
import { keyFileOf, subjectSettings, UCAN_KEY_VARIABLE } from './subject-settings.ts'

/**
 * Undefined where subjects are off; then nothing of UCAN is even loaded. The log is told of a key
 * that a group can read too.
 */
export const openIdentity = async (
  settings: Settings,
  environment: Environment,
  log: Log = SILENT,
): Promise<Identity | undefined> => {
  const section = subjectSettings(settings, environment)
  if (section === undefined) return undefined
  const { openKeyFile, parseIdentity } = await import('../../subjects/index.ts')
  const did = section.identity
  const secret = environment[UCAN_KEY_VARIABLE]
  return secret === undefined
    ? openKeyFile({ path: keyFileOf(settings), did, onShared: tellShared(log) })
    : parseIdentity(secret, did)
}
