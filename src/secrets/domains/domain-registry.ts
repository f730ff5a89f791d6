/** Which kinds of domain there are. CIP-40: they come from a finite set. */
import { quote } from '../../core/errors.ts'
import type { Field } from '../../documents/field.ts'
import { treeOf } from '../../documents/from-value.ts'
import type { NameAndVersion } from '../eip712/typed-data.ts'
import { refuseSecret } from '../mistake.ts'
import type { AccessController } from './access-controller.ts'
import { linearBackoff, notBefore, peppered } from './cip40-examples.ts'
import { cloudBackup, cloudBackup2 } from './cloud-backup.ts'
import type { DomainKind, Endpoint } from './domain-kind.ts'
import { fixedPhoneQuota, type PhoneQuota, phoneNumber } from './phone-number.ts'
import { sequentialDelay } from './sequential-delay.ts'
import { smartContract } from './smart-contract.ts'

export interface DomainRegistry {
  find(name: string, version: string): RegisteredKind | undefined
}

/** Of a deprecated name and version there may be no more than that: the kind itself can be gone. */
export type RegisteredKind =
  | { readonly deprecated: false; readonly kind: DomainKind }
  | { readonly deprecated: true; readonly kind?: DomainKind }

export interface RegistryOptions {
  /** Without it there is no smart contract domain here. */
  readonly contracts?: AccessController
  /** Without it there is no phone number domain here. */
  readonly phoneQuota?: PhoneQuota
  /** Known, but no longer served. Also such as this Headgate never had, or does not have here. */
  readonly deprecated?: readonly NameAndVersion[]
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
  const known = new Map<string, RegisteredKind>(
    kinds.map((kind) => [keyOf(kind), { deprecated: false, kind }]),
  )
  for (const gone of deprecated) {
    known.set(keyOf(gone), { ...known.get(keyOf(gone)), deprecated: true })
  }
  return { find: (name, version) => known.get(keyOf({ name, version })) }
}

function keyOf({ name, version }: NameAndVersion): string {
  return JSON.stringify([name, version])
}

// The two hashes that a client needs: of its domain, which is the tag of every response, and of a request, to sign it.

/**
 * 32 bytes. Throws for a domain that is not of its type.
 *
 * @example
 * import { domainHash } from 'headgate/domains'
 *
 * const domain = {
 *   name: 'ODIS Linear Backoff Domain',
 *   version: '1',
 *   refresh: { defined: true, value: 86_400_000 },
 *   cap: 2,
 *   salt: { defined: true, value: 'ann, wallet 7' },
 * }
 * console.log(domainHash(domain).length)
 */
export const domainHash = (domain: NameAndVersion): Uint8Array =>
  kindOf(domain).hash(asField('domain', domain))

/** 32 bytes, whatever the request has as its signature. Throws for what a signer would call malformed. */
export const signingHash = (
  endpoint: Endpoint,
  request: { readonly domain: NameAndVersion },
): Uint8Array => kindOf(request.domain).read(endpoint, asField('request', request)).signingHash

/** Every kind there is: hashing calls no chain and needs no quota. */
const EVERY_KIND = domainRegistry({
  contracts: { ask: async () => 'no chain' },
  phoneQuota: fixedPhoneQuota({ base: 0, verified: 0 }),
})

const asField = (thing: string, value: object): Field => ({ thing, node: treeOf(value, thing) })

function kindOf({ name, version }: NameAndVersion): DomainKind {
  const found = EVERY_KIND.find(name, version)
  if (found?.deprecated === false) return found.kind
  return refuseSecret({
    code: 'DOMAIN_INVALID',
    thing: 'domain',
    rule: 'must be of a known name and version',
    finding: `${quote(name)} ${quote(version)}`,
  })
}
