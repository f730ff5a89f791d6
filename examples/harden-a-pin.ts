// A PIN becomes a strong key with the help of a signer that never sees it, and that answers only twice.
import { memory } from 'headgate'
import { domainHash } from 'headgate/domains'
import { blind, unblind } from 'headgate/poprf'
import { createSigner, evaluateHere, generateKey } from 'headgate/secrets'

// The signer, here in the same process: `headgate odis signer` is the same over HTTP, and durable.
const key = generateKey()
const signer = createSigner({
  store: memory(),
  evaluator: await evaluateHere(),
  keys: { current: 1, find: (version) => (version === 1 ? key : undefined) },
  version: 'example',
})

// The rules: two attempts, and one more a day. They go into every answer, so they cannot be changed.
const domain = {
  name: 'ODIS Linear Backoff Domain',
  version: '1',
  refresh: { defined: true, value: 86_400_000 },
  cap: 2,
  salt: { defined: true, value: 'ann, wallet 7' },
}
const tag = domainHash(domain)

const harden = async (pin: string): Promise<string> => {
  const { blindedMessage, blindingFactor } = blind(new TextEncoder().encode(pin))
  const request = {
    domain,
    options: {},
    blindedMessage: Buffer.from(blindedMessage).toString('base64'),
    sessionID: { defined: false, value: '' },
  }
  const { status, headers, body } = await signer.answer('sign', {
    body: new TextEncoder().encode(JSON.stringify(request)),
  })
  if (status !== 200) {
    const hours = Math.ceil(Number(headers['retry-after']) / 3_600)
    return `refused with ${status}, try again in ${hours} h`
  }
  const response = Buffer.from(JSON.parse(body).signature, 'base64')
  return Buffer.from(unblind(key.publicKey, { blindingFactor, tag, response })).toString('hex')
}

const first = await harden('123456')
console.log(`a key of ${first.length * 4} bits`)
console.log((await harden('123456')) === first ? 'the same PIN, the same key' : 'another key')
console.log(await harden('123457'))
