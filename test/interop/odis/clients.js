/** The published clients of the ODIS domain API, unmodified, as an application puts them together. */
import query from '@celo/identity/lib/odis/query.js'
import common from '@celo/phone-number-privacy-common'
import localWallet from '@celo/wallet-local'

const { ErrorMessages, sendOdisDomainRequest } = query
const {
  DomainEndpoint,
  DomainRequestTypeTag,
  PoprfClient,
  SequentialDelayDomainStateSchema,
  disableDomainRequestEIP712,
  disableDomainResponseSchema,
  domainHash,
  domainQuotaStatusRequestEIP712,
  domainQuotaStatusResponseSchema,
  domainRestrictedSignatureRequestEIP712,
  domainRestrictedSignatureResponseSchema,
} = common

const none = (value) => ({ defined: false, value })
const some = (value) => ({ defined: true, value })

const REQUESTS = {
  sign: {
    endpoint: DomainEndpoint.DOMAIN_SIGN,
    type: DomainRequestTypeTag.SIGN,
    typed: domainRestrictedSignatureRequestEIP712,
    schema: domainRestrictedSignatureResponseSchema(SequentialDelayDomainStateSchema),
  },
  quotaStatus: {
    endpoint: DomainEndpoint.DOMAIN_QUOTA_STATUS,
    type: DomainRequestTypeTag.QUOTA,
    typed: domainQuotaStatusRequestEIP712,
    schema: domainQuotaStatusResponseSchema(SequentialDelayDomainStateSchema),
  },
  disable: {
    endpoint: DomainEndpoint.DISABLE_DOMAIN,
    type: DomainRequestTypeTag.DISABLE,
    typed: disableDomainRequestEIP712,
    schema: disableDomainResponseSchema(SequentialDelayDomainStateSchema),
  },
}

/** A wallet of one key, by its hexadecimal digits. */
export const walletOf = (privateKey) => {
  const wallet = new localWallet.LocalWallet()
  wallet.addAccount(`0x${privateKey}`)
  const [address] = wallet.getAccounts()
  return { wallet, address }
}

export const errors = ErrorMessages

export const hashOf = (domain) => Buffer.from(domainHash(domain))

/** Blinds a message for a domain; the same seed blinds it alike. */
export const blindFor = (publicKey, domain, message, seed) =>
  new PoprfClient(Buffer.from(publicKey, 'base64'), hashOf(domain), message, seed)

/** Signs and sends a request; what the service answers, or the client's own error. */
export const send = async (
  kind,
  { url, publicKey, signer, domain, nonce, blinded, keyVersion },
) => {
  const { endpoint, type, typed, schema } = REQUESTS[kind]
  const options = { signature: none(''), nonce: nonce === undefined ? none(0) : some(nonce) }
  const message = blinded === undefined ? {} : { blindedMessage: blinded }
  const request = { type, domain, options, ...message, sessionID: none('') }
  const signature = await signer.wallet.signTypedData(signer.address, typed(request))
  const body = { ...request, options: { ...options, signature: some(signature) } }
  const headers = keyVersion === undefined ? undefined : { 'odis-key-version': keyVersion }
  const context = { odisUrl: url, odisPubKey: publicKey }
  return sendOdisDomainRequest(body, context, endpoint, schema, headers)
}
