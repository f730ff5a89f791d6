/** A client of rates for one command: the service it asks, the key it acts by, the proof it shows. */
import { refuseUnknownVariables } from '../server/options.ts'
import type { Identity, RatesClient } from '../subjects/index.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Call } from './command.ts'
import type { RatesService } from './rates-service.ts'
import { readProofFile, readSecret } from './ucan-key.ts'

export const withRates = async <T>(
  call: Call,
  use: (rates: RatesClient) => Promise<T>,
): Promise<T> => {
  refuseUnknownVariables(call.environment)
  const proof = await readProofFile(call)
  const secret = await readSecret(call)
  // Only now: UCAN and a store take longer to load than most commands take in all.
  const { openRatesService } = await import('./rates-service.ts')
  const { createRatesClient } = await import('../subjects/index.ts')
  const service = await openRatesService(call)
  try {
    if (proof !== undefined) await checkProof(proof, service)
    const { url, fetch, did: provider, keyDid: serviceKey } = service
    const key = await identityFor(secret, service)
    const proofs = proof === undefined ? [] : [proof]
    return await use(createRatesClient({ url, fetch, provider, serviceKey, key, proofs }))
  } finally {
    await service.close()
  }
}

async function identityFor(
  secret: string | undefined,
  { did, keyDid, own }: RatesService,
): Promise<Identity> {
  if (secret === undefined) return own ?? refuseNoKey()
  const { parseIdentity } = await import('../subjects/index.ts')
  const identity = parseIdentity(secret)
  // The service's own key acts under the service's own name.
  return identity.keyDid === keyDid && did !== keyDid ? parseIdentity(secret, did) : identity
}

function refuseNoKey(): never {
  const rule = 'or HEADGATE_UCAN_KEY must tell the key to act by'
  return refuseCall({ code: 'FLAG_VALUE_MISSING', thing: '--key', rule, finding: 'neither' })
}

/** A proof for another service would only be refused, in words that help less. */
async function checkProof(proof: Uint8Array, { did }: RatesService): Promise<void> {
  const { inspectProof } = await import('../subjects/index.ts')
  const about = inspectProof(proof).capabilities[0]?.with
  if (about === did) return
  const rule = `must be about the service that is asked, ${did}`
  refuseCall({ code: 'FLAG_VALUE_INVALID', thing: '--proof', rule, finding: about ?? 'nothing' })
}
