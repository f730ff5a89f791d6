/** The published clients, unmodified, as they find each other in this folder. */
import * as StorachaRateLimit from '@storacha/capabilities/rate-limit'
import * as StorachaUcan from '@storacha/capabilities/ucan'
import { connect, invoke } from '@ucanto/client'
import { Delegation, DID } from '@ucanto/core'
import { ed25519 } from '@ucanto/principal'
import { CAR, HTTP } from '@ucanto/transport'
import * as Web3RateLimit from '@web3-storage/capabilities/rate-limit'
import * as Web3Ucan from '@web3-storage/capabilities/ucan'

export const PUBLISHED = {
  '@web3-storage/capabilities': { ...Web3RateLimit, revoke: Web3Ucan.revoke },
  '@storacha/capabilities': { ...StorachaRateLimit, revoke: StorachaUcan.revoke },
}

export const connectTo = (url, did) =>
  connect({ id: DID.parse(did), codec: CAR.outbound, channel: HTTP.open({ url: new URL(url) }) })

export const newKey = () => ed25519.generate()
export const keyOf = (secret, did) => ed25519.parse(secret).withDID(did)

/** `rate-limit/*` has no definition of its own in the packages: it is delegated and invoked by name. */
export const delegate = (options) => Delegation.delegate(options)
export const invokeByName = (options) => invoke(options)
