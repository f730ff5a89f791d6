import { ed25519 } from '@ucanto/principal'
import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { isSignedBy, keyOfDid } from './ed25519.ts'
import { didDocument, generateIdentity, parseIdentity } from './identity.ts'

describe('a key', () => {
  test('is in the form that ucanto reads, and ucanto’s own is read here', async () => {
    const ours = generateIdentity()
    expect(ours.secret).toMatch(/^Mg/)
    expect(ed25519.parse(ours.secret).did()).toBe(ours.did)
    const theirs = await ed25519.generate()
    const read = parseIdentity(ed25519.format(theirs))
    expect(read.did).toBe(theirs.did())
  })

  test('signs what ucanto verifies, and the other way round', async () => {
    const ours = generateIdentity()
    const payload = new TextEncoder().encode('payload')
    const theirs = ed25519.parse(ours.secret)
    const signature = await theirs.sign(payload)
    expect(Buffer.from(ours.sign(payload))).toEqual(Buffer.from(signature.raw))
    const key = keyOfDid(ours.did)
    expect(key !== undefined && isSignedBy(key, payload, signature.raw)).toBe(true)
    expect(key !== undefined && isSignedBy(key, new Uint8Array(1), signature.raw)).toBe(false)
  })

  test.each([
    ['a letter less', (secret: string) => secret.slice(0, -1)],
    ['another first letter', (secret: string) => `X${secret.slice(1)}`],
    ['nothing', () => ''],
    [
      'the public part of another key',
      (secret: string) => secret.slice(0, 60) + generateIdentity().secret.slice(60),
    ],
  ])('%s is refused without being quoted', (_, spoil) => {
    const spoiled = spoil(generateIdentity().secret)
    const mistake = mistakeOf(() => parseIdentity(spoiled))
    expect(mistake.code).toBe('KEY_INVALID')
    if (spoiled !== '') expect(mistake.message).not.toContain(spoiled.slice(10, 30))
  })

  test('can have a did:web as its name, and no other', () => {
    const { secret, did } = generateIdentity()
    const named = parseIdentity(secret, 'did:web:example.com')
    expect([named.did, named.keyDid]).toEqual(['did:web:example.com', did])
    expect(mistakeOf(() => parseIdentity(secret, 'did:mailto:a.test:alice')).code).toBe(
      'PROVIDER_INVALID',
    )
    expect(mistakeOf(() => parseIdentity(secret, 'example.com')).code).toBe('PROVIDER_INVALID')
  })
})

test('the document of a did:web shows its key', () => {
  const identity = parseIdentity(generateIdentity().secret, 'did:web:example.com')
  const document = didDocument(identity)
  expect(document.id).toBe('did:web:example.com')
  const [method] = document.verificationMethod
  expect(`did:key:${method?.publicKeyMultibase}`).toBe(identity.keyDid)
  expect(document.capabilityInvocation).toEqual([method?.id])
})

test.each(['did:key:z6Mk', 'did:key:zz', 'did:web:a.test', `did:key:z${'1'.repeat(1_000)}`])(
  '%s names no Ed25519 key',
  (did) => {
    expect(keyOfDid(did)).toBeUndefined()
  },
)
