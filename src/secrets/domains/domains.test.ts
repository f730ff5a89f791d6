/** The domains of CIP-40 and of "ODIS RateLimit Structures": their types, their rules, their bounds. */
import { describe, expect, test } from 'vitest'
import { jsonField } from '../../../test/support/json-field.ts'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { withoutProof } from '../../../test/support/odis-requests.ts'
import {
  defined,
  type Fields,
  none,
  ownerKey,
  pointOfKey,
  type SampleName,
  samples,
  varied,
} from '../../../test/support/odis-samples.ts'
import { days, type Instant, instant, type Value } from '../../core/index.ts'
import type { DomainKind } from '../domain-kind.ts'
import type { Rule } from '../rule.ts'
import { CloudBackupDomain, CloudBackupDomainOptions, cloudBackup } from './cloud-backup.ts'
import { CloudBackupDomain2, CloudBackupDomainOptions2, cloudBackup2 } from './cloud-backup-2.ts'
import { LinearBackoffDomainOptions, linearBackoff } from './linear-backoff.ts'
import { NotBeforeDomain, notBefore } from './not-before.ts'
import { PepperedDomain, PepperedDomainOptions, peppered } from './peppered.ts'
import { PhoneNumberDomain, PhoneNumberDomainOptions } from './phone-number.ts'
import { SmartContractDomain, SmartContractDomainOptions } from './smart-contract.ts'

describe('the types, as the documents map them', () => {
  const OPTIONAL_STRING = 'Optional<string>(bool defined,string value)'
  const OPTIONAL_NUMBER = 'Optional<uint256>(bool defined,uint256 value)'
  const rows: readonly (readonly [{ typeString: string }, string])[] = [
    [
      CloudBackupDomain,
      `CloudBackupDomain(string name,string publicKey,RateLimit rateLimit,string version)${OPTIONAL_NUMBER}RateLimit(Stage[] stages)Stage(Optional<uint256> batch,bool cumulative,string delay,Optional<uint256> repetitions)`,
    ],
    [CloudBackupDomainOptions, 'CloudBackupDomainOptions(string signature)'],
    [
      CloudBackupDomain2,
      `CloudBackupDomain(string name,string publicKey,RateLimit rateLimit,string version)${OPTIONAL_NUMBER}RateLimit(Stage[] stages)Stage(Optional<uint256> batch,bool cumulative,string delay,bool endless,Optional<uint256> repetitions)`,
    ],
    [
      CloudBackupDomainOptions2,
      `CloudBackupDomainOptions(Optional<uint256> nonce,string signature)${OPTIONAL_NUMBER}`,
    ],
    [LinearBackoffDomainOptions, 'LinearBackoffDomainOptions()'],
    [NotBeforeDomain, 'NotBeforeDomain(string name,uint256 notBefore,string version)'],
    [
      PepperedDomain,
      `PepperedDomain(string address,Optional<uint256> cap,string name,string version)${OPTIONAL_NUMBER}`,
    ],
    [PepperedDomainOptions, 'PepperedDomainOptions(string signature)'],
    [PhoneNumberDomain, 'PhoneNumberDomain(string name,string version)'],
    [
      PhoneNumberDomainOptions,
      `PhoneNumberDomainOptions(string account,string authorization,Optional<string> hashedPhoneNumber)${OPTIONAL_STRING}`,
    ],
    [
      SmartContractDomain,
      `SmartContractDomain(uint256 chainId,string contractAddress,Optional<string> domainData,string name,string version)${OPTIONAL_STRING}`,
    ],
    [
      SmartContractDomainOptions,
      `SmartContractDomainOptions(string authorization,Optional<uint256> notBeforeBlock)${OPTIONAL_NUMBER}`,
    ],
  ]
  for (const [type, text] of rows) {
    test(text.slice(0, text.indexOf(')') + 1), () => expect(type.typeString).toBe(text))
  }
})

const POINT = pointOfKey(ownerKey)
const T0 = instant(1_700_000_000_000_000)
const later = (point: Instant, wait: number): Instant => instant(point + wait)

/** The rule of a domain with some fields of its own. */
const ruleOf = (kind: DomainKind, name: SampleName, domain: Fields): Promise<Rule> => {
  const body = withoutProof(varied(samples('x')[name], { domain }))
  return kind.read('sign', jsonField(body)).claim.rule()
}

const stage = (delay: string, cumulative: boolean, batch?: number, repetitions?: number) => ({
  delay,
  cumulative,
  batch: batch === undefined ? none(0) : defined(batch),
  repetitions: repetitions === undefined ? none(0) : defined(repetitions),
})

/** How many attempts in a row are allowed at one moment, and the state after them. */
const burst = (
  rule: Rule,
  state: Value | undefined,
  now: Instant,
): { count: number; state: Value | undefined } => {
  let kept = state
  for (let count = 0; ; count++) {
    const found = rule.attempt(kept, now)
    if (!found.allowed || found.next === undefined) return { count, state: kept }
    kept = found.next
  }
}

describe('ODIS Cloud Backup Domain, version 1', () => {
  const stages = [
    stage('0', false),
    stage('1 day', true, 1, 2),
    stage('2 days', true),
    stage('48h', false),
    stage('4 days', false, 2),
  ]

  test("the document's example: 4 days of patience are worth 3 attempts, then 2 days for the next", async () => {
    const rule = await ruleOf(cloudBackup, 'cloud backup', { rateLimit: { stages } })
    const first = burst(rule, undefined, T0)
    expect(first.count).toBe(1)
    const patient = burst(rule, first.state, later(T0, days(4)))
    expect(patient.count).toBe(3)
    const after4 = rule.attempt(patient.state, later(T0, days(4)))
    expect(after4).toEqual({ allowed: false, retryIn: days(2) })
    const fifth = burst(rule, patient.state, later(T0, days(6)))
    expect(fifth.count).toBe(1)
    const last = burst(rule, fifth.state, later(T0, days(10)))
    expect(last.count).toBe(2)
    expect(rule.attempt(last.state, later(T0, days(9_999)))).toMatchObject({ retryIn: 'never' })
  })

  const refused: Readonly<Record<string, Fields>> = {
    'a first delay other than 0': { rateLimit: { stages: [stage('1 day', false)] } },
    'a delay that is none': { rateLimit: { stages: [stage('soon', false)] } },
    'an expression, which version 2 has': { rateLimit: { stages: [stage('0 * i', false)] } },
    'a stage of no attempts': { rateLimit: { stages: [stage('0', false, 0)] } },
    'a key that is no point': { publicKey: `02${'ff'.repeat(32)}` },
    'a key that is not compressed': { publicKey: `04${POINT.slice(2)}${POINT.slice(2)}` },
  }
  for (const [what, fields] of Object.entries(refused)) {
    test(`refuses ${what}`, () => {
      const { code } = mistakeOf(() => ruleOf(cloudBackup, 'cloud backup', fields))
      expect(['DOMAIN_INVALID', 'STAGES_INVALID']).toContain(code)
    })
  }
})

describe('ODIS Cloud Backup Domain, version 2', () => {
  const endless = (each: object, yes: boolean) => ({ ...each, endless: yes })
  const read = (stages: readonly object[]) =>
    ruleOf(cloudBackup2, 'cloud backup 2', { rateLimit: { stages } })

  test('agrees with version 1 where there is no expression', async () => {
    const stages = [stage('0', false, 2), stage('1 day', true, 2, 3), stage('3 hours', false)]
    const one = await ruleOf(cloudBackup, 'cloud backup', { rateLimit: { stages } })
    const two = await read(stages.map((each) => endless(each, false)))
    let states: readonly (Value | undefined)[] = [undefined, undefined]
    for (const wait of [0, 0, 1, 1, 3, 0.5, 2, 2, 9]) {
      const now = later(T0, Math.round(wait * days(1)))
      const [first, second] = [burst(one, states[0], now), burst(two, states[1], now)]
      expect(second.count).toBe(first.count)
      states = [first.state, second.state]
    }
  })

  const refused: Readonly<Record<string, readonly object[]>> = {
    'an endless stage before the last': [
      endless(stage('0', false), true),
      endless(stage('0', false), false),
    ],
    'an endless stage with repetitions': [endless(stage('0', false, 1, 2), true)],
    'a first delay other than 0': [endless(stage('i days', false), true)],
  }
  for (const [what, stages] of Object.entries(refused)) {
    test(`refuses ${what}`, () => {
      expect(mistakeOf(() => read(stages)).code).toBe('DOMAIN_INVALID')
    })
  }

  test('refuses what is no expression', () => {
    const stages = [endless(stage('0', false), false), endless(stage('d[i-1] + i', false), true)]
    expect(mistakeOf(() => read(stages)).code).toBe('EXPRESSION_INVALID')
  })
})

describe('ODIS Linear Backoff Domain', () => {
  const read = (fields: Fields) => ruleOf(linearBackoff, 'linear backoff', fields)

  test('saves up to the cap, and refreshes one attempt each interval', async () => {
    const rule = await read({ cap: 3, refresh: defined(1_000) })
    const first = burst(rule, undefined, T0)
    expect(first.count).toBe(3)
    expect(burst(rule, first.state, later(T0, 1_000_000)).count).toBe(1)
    expect(burst(rule, first.state, later(T0, days(9))).count).toBe(3)
  })

  test('without a refresh is a hard cap, and without a cap is closed', async () => {
    const hard = burst(await read({ cap: 3, refresh: none(0) }), undefined, T0)
    expect(hard.count).toBe(3)
    expect(
      burst(await read({ cap: 3, refresh: none(0) }), hard.state, later(T0, days(9))).count,
    ).toBe(0)
    expect(burst(await read({ cap: 0 }), undefined, T0).count).toBe(0)
  })

  test('refuses a refresh of no time, and one that no life is long enough for', () => {
    for (const fields of [
      { refresh: defined(0) },
      { cap: 2 ** 40, refresh: defined(86_400_000) },
    ]) {
      expect(mistakeOf(() => read(fields)).code).toBe('DOMAIN_INVALID')
    }
  })
})

test('ODIS Not Before Domain: closed to the last second before its time, open to all from then on', async () => {
  const rule = await ruleOf(notBefore, 'not before', { notBefore: 1_700_000_000 })
  expect(rule.attempt(undefined, instant(T0 - 1))).toEqual({ allowed: false, retryIn: 1 })
  expect(rule.attempt(undefined, T0)).toEqual({ allowed: true })
  const far = await ruleOf(notBefore, 'not before', { notBefore: 2 ** 53 - 1 })
  expect(far.attempt(undefined, T0)).toMatchObject({ allowed: false })
})

test('ODIS Peppered Domain: without a cap nobody counts to the end, and the address must be one', async () => {
  const rule = await ruleOf(peppered, 'peppered', { cap: none(0) })
  expect(rule.attempt(`${2 ** 50} 0 0`, T0).allowed).toBe(true)
  expect(mistakeOf(() => ruleOf(peppered, 'peppered', { address: 'me' })).code).toBe(
    'DOMAIN_INVALID',
  )
})
