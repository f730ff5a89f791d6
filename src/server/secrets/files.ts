/** What a signer reads from files, when it opens and again at a reload: its keys, and the accounts of the phone number domain. */
import { readFile } from 'node:fs/promises'
import { HeadgateError, systemCode } from '../../core/errors.ts'
import {
  type KeyNotice,
  type KeyRing,
  type LiveKeyRing,
  liveKeys,
  loadKeys,
  type PhoneAccounts,
  parsePhoneAccounts,
  readKeySecret,
  type SecretsErrorCode,
  wipe,
} from '../../secrets/index.ts'
import { isLoopback } from '../app/access.ts'
import { type Log, logSharedSecret } from '../app/log.ts'
import type { ReloadOutcome } from '../app/metrics.ts'
import type { SignerSettings } from './config.ts'

export interface SignerFiles {
  readonly keys: LiveKeyRing
  /** As they were read last. */
  accounts(): PhoneAccounts
  /** All of it or nothing. Rejects for what it could not read, once that is logged. */
  reload(onReload: (outcome: ReloadOutcome) => void): Promise<void>
}

export const openFiles = async (settings: SignerSettings, log: Log): Promise<SignerFiles> => {
  let accounts = await loadAccounts(settings)
  const keys = await liveKeys(() => openKeys(settings, log))
  return {
    keys,
    accounts: () => accounts,
    reload: async (onReload) => {
      try {
        const next = await loadAccounts(settings)
        // The last that can fail.
        const { added, removed } = await keys.reload()
        accounts = next
        onReload('loaded')
        const facts = { current: keys.current, versions: versionsOf(keys), added, removed }
        log.info(facts, 'keys and accounts reloaded; every other setting waits for a restart')
      } catch (err) {
        onReload('refused')
        log.error({ err, versions: versionsOf(keys) }, 'reload refused, everything stays as it was')
        throw err
      }
    },
  }
}

const versionsOf = ({ notices }: Pick<KeyRing, 'notices'>): readonly number[] =>
  notices.map(({ version }) => version)

async function openKeys(settings: SignerSettings, log: Log): Promise<KeyRing> {
  const { keys, keySecret, currentKey: current } = settings
  const onShared = logSharedSecret(log)
  const secret = await readKeySecret(keySecret, { onShared })
  try {
    const opened = await loadKeys(keys, secret, {
      onShared,
      ...(current !== undefined && { current }),
    })
    try {
      refuseExposedSingleKey(opened.notices, settings)
    } catch (error) {
      opened.wipe()
      throw error
    }
    return opened
  } finally {
    wipe(secret)
  }
}

interface KeyUse {
  readonly host: string
  readonly allowSingleKey: boolean
}

/** A whole key hardens nothing against the one who holds it: fit for development, on this machine alone. */
export const refuseExposedSingleKey = (notices: readonly KeyNotice[], use: KeyUse): void => {
  const single = notices.find(({ kind }) => kind === 'single')
  if (single === undefined || use.allowSingleKey || isLoopback(use.host)) return
  throw new HeadgateError<SecretsErrorCode>({
    code: 'SIGNER_SINGLE_KEY',
    thing: `host ${use.host}`,
    rule: 'must be a loopback address while a signer holds a whole key, or --allow-single-key be given',
    finding: `key version ${single.version} is a single key`,
  })
}

/** No one signs for another, and no number is verified, unless a file says so. */
async function loadAccounts(settings: SignerSettings): Promise<PhoneAccounts> {
  const { phoneAccounts: path, phoneQuota, phoneVerifiedQuota } = settings
  const refuse = (rule: string, finding: string): never => {
    const thing = `phone accounts ${path ?? ''}`.trim()
    throw new HeadgateError<SecretsErrorCode>({
      code: 'PHONE_ACCOUNTS_INVALID',
      thing,
      rule,
      finding,
    })
  }
  if (phoneQuota === undefined && (path !== undefined || phoneVerifiedQuota !== undefined)) {
    refuse('must come with --phone-quota, without which there is no phone number domain', 'none')
  }
  if (path === undefined) return new Map()
  const unreadable = (error: unknown) => refuse('must be a readable file', systemCode(error))
  return parsePhoneAccounts(await readFile(path, 'utf8').catch(unreadable), path)
}
