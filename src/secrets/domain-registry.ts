/** Which kinds of domain a signer knows. CIP-40: they come from a finite set. */
import type { AccessController } from './chain/access-controller.ts'
import type { DomainKind } from './domain-kind.ts'
import { cloudBackup } from './domains/cloud-backup.ts'
import { cloudBackup2 } from './domains/cloud-backup-2.ts'
import { linearBackoff } from './domains/linear-backoff.ts'
import { notBefore } from './domains/not-before.ts'
import { peppered } from './domains/peppered.ts'
import { phoneNumber } from './domains/phone-number.ts'
import { sequentialDelay } from './domains/sequential-delay.ts'
import { smartContract } from './domains/smart-contract.ts'
import type { Context } from './eip712/typed-data.ts'
import type { PhoneQuota } from './phone-quota.ts'

export interface DomainRegistry {
  find(name: string, version: string): Registered | undefined
}

export interface Registered {
  readonly kind: DomainKind
  /** Known, but no longer served. */
  readonly deprecated: boolean
}

export interface RegistryOptions {
  /** Without it there is no smart contract domain here. */
  readonly contracts?: AccessController
  /** Without it there is no phone number domain here. */
  readonly phoneQuota?: PhoneQuota
  readonly deprecated?: readonly Context[]
}

export const domainRegistry = (options: RegistryOptions = {}): DomainRegistry => {
  const { contracts, phoneQuota, deprecated = [] } = options
  const kinds = [
    sequentialDelay,
    cloudBackup,
    cloudBackup2,
    linearBackoff,
    notBefore,
    peppered,
    ...(phoneQuota === undefined ? [] : [phoneNumber(phoneQuota)]),
    ...(contracts === undefined ? [] : [smartContract(contracts)]),
  ]
  const gone = new Set(deprecated.map(keyOf))
  const known = new Map(
    kinds.map((kind) => [keyOf(kind), { kind, deprecated: gone.has(keyOf(kind)) }]),
  )
  return { find: (name, version) => known.get(keyOf({ name, version })) }
}

function keyOf({ name, version }: Context): string {
  return JSON.stringify([name, version])
}
