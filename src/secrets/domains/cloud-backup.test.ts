import { describe, expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { burst, later, ruleOf, T0 } from '../../../test/support/odis-rules.ts'
import {
  defined,
  type Fields,
  none,
  ownerKey,
  pointOfKey,
} from '../../../test/support/odis-samples.ts'
import type { Value } from '../../core/store.ts'
import { days } from '../../core/time.ts'
import { cloudBackup, cloudBackup2 } from './cloud-backup.ts'

const POINT = pointOfKey(ownerKey)

const stage = (delay: string, cumulative: boolean, batch?: number, repetitions?: number) => ({
  delay,
  cumulative,
  batch: batch === undefined ? none(0) : defined(batch),
  repetitions: repetitions === undefined ? none(0) : defined(repetitions),
})

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
