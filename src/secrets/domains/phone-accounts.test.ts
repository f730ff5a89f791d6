/** What an operator's file of accounts unlocks, over HTTP, and what is wrong with one. */
import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { requestFor } from '../../../test/support/odis-requests.ts'
import {
  addressOfKey,
  defined,
  ownerKey,
  samples,
  strangerKey,
  varied,
} from '../../../test/support/odis-samples.ts'
import { signerBench } from '../../../test/support/odis-signer.ts'
import { accountQuota, MAX_PHONE_ACCOUNTS, parsePhoneAccounts } from './phone-accounts.ts'

const sample = samples('accounts')['phone number']
const [owner, device] = [addressOfKey(ownerKey), addressOfKey(strangerKey)]
const NUMBER = `0x${'Ab'.repeat(32)}`

const parse = (accounts: unknown) => parsePhoneAccounts(JSON.stringify({ accounts }), 'accounts')

/** A signer with one attempt for each account, and two more for the owner of a number. */
const signerWith = (accounts: unknown) => {
  const quota = { base: 1, verified: 2, accounts: () => parse(accounts) }
  return signerBench({ kinds: { phoneQuota: accountQuota(quota) } })
}

const asOwnerOf = (number: string) =>
  varied(sample, { options: { hashedPhoneNumber: defined(number) } })

describe('a verified identifier', () => {
  test('unlocks more attempts for the account that owns it, in either case of its digits', async () => {
    const bench = signerWith([{ account: owner, identifiers: [NUMBER] }])
    const statuses = []
    for (const [at, number] of [NUMBER, NUMBER.toLowerCase(), NUMBER, NUMBER].entries()) {
      const reply = await bench.ask('sign', requestFor(asOwnerOf(number), { session: `${at}` }))
      statuses.push(reply.status)
    }
    expect(statuses).toEqual([200, 200, 200, 429])
  })

  test('unlocks nothing for one that is not named, nor for an account that owns another', async () => {
    const bench = signerWith([{ account: owner, identifiers: [NUMBER] }])
    const other = asOwnerOf(`0x${'cd'.repeat(32)}`)
    expect((await bench.ask('sign', requestFor(other, { session: 'a' }))).status).toBe(200)
    expect((await bench.ask('sign', requestFor(other, { session: 'b' }))).status).toBe(429)
    const thief = varied(asOwnerOf(NUMBER), {
      options: { account: device, hashedPhoneNumber: defined(NUMBER) },
      key: strangerKey,
    })
    expect((await bench.ask('sign', requestFor(thief, { session: 'a' }))).status).toBe(200)
    expect((await bench.ask('sign', requestFor(thief, { session: 'b' }))).status).toBe(429)
  })
})

describe('an authorised signer', () => {
  test('signs for its account, which is charged, and for no other', async () => {
    const bench = signerWith([{ account: owner, signers: [device] }])
    const byDevice = requestFor(sample, { key: strangerKey, session: 'device' })
    expect((await bench.ask('sign', byDevice)).status).toBe(200)
    const byOwner = requestFor(sample, { session: 'owner' })
    expect((await bench.ask('sign', byOwner)).status).toBe(429)
    const someone = varied(sample, { options: { account: `0x${'11'.repeat(20)}` } })
    expect((await bench.ask('sign', requestFor(someone, { key: strangerKey }))).status).toBe(401)
  })

  test('of an account that the file does not know there is none', async () => {
    const bench = signerWith([])
    const byDevice = requestFor(sample, { key: strangerKey })
    expect((await bench.ask('sign', byDevice)).status).toBe(401)
    expect((await bench.ask('sign', requestFor(sample))).status).toBe(200)
  })
})

test.each([
  ['no list', {}, 'phone accounts.accounts'],
  ['an account that is no address', [{ account: 'ann' }], 'phone accounts.accounts[0].account'],
  [
    'one twice, in two cases',
    [{ account: owner }, { account: owner.toUpperCase().replace('0X', '0x') }],
    'phone accounts.accounts[1].account',
  ],
  ['a signer that is no address', [{ account: owner, signers: ['x'] }], 'signers[0]'],
  ['an empty identifier', [{ account: owner, identifiers: [''] }], 'identifiers[0]'],
  ['a field that is none', [{ account: owner, signer: device }], 'phone accounts.accounts[0]'],
  ['too many signers', [{ account: owner, signers: Array(17).fill(device) }], 'signers'],
  ['too many accounts', Array(MAX_PHONE_ACCOUNTS + 1).fill({}), 'phone accounts.accounts'],
])('%s is refused', (_, accounts, thing) => {
  const mistake = mistakeOf(() => parse(accounts))
  expect(mistake.code).toMatch(/^FIELD_/)
  expect(mistake.thing).toContain(thing)
})
