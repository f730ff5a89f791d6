import { describe, expect, test } from 'vitest'
import { instant } from '../../core/time.ts'
import { readRateList, writeRateList } from './rate-lists.ts'

const NOW = instant(Date.parse('2026-11-17T12:00:00Z') * 1_000)
const HOUR = 3_600_000_000
const read = (text: string, options = {}) => readRateList(text, { now: NOW, rate: 0, ...options })
const subjects = (text: string) => read(text).drafts.map(({ subject }) => subject)

describe('our own CSV', () => {
  test('is read back as it was written, whatever the cells hold', () => {
    const rates = [
      { subject: 'a.test', rate: 0 },
      { subject: 'did:mailto:b.test:"ann, of b"', rate: -1.5, reason: 'said\n"no"', label: 'x,y' },
      { subject: '#tag', rate: 2, expiresAt: instant(NOW + HOUR) },
    ]
    const { format, drafts, mistakes } = read(writeRateList(rates))
    expect(format).toBe('csv')
    expect(mistakes).toEqual([])
    expect(drafts).toEqual(
      rates.map((rate, at) => ({ ...rate, line: at + 2 + (at === 2 ? 1 : 0) })),
    )
  })

  test('tells every mistake at once, each with its line, and skips what has ended', () => {
    const text = [
      'Subject,Rate,Expires',
      'a.test,much,',
      '# a remark',
      ',0,',
      'b.test,0,some day',
      'c.test,0,2020-01-01T00:00:00Z',
      'd.test,0,7d',
    ].join('\r\n')
    const { drafts, mistakes, skipped } = read(text)
    expect(mistakes).toEqual([
      { line: 2, message: 'rate must be a number, found "much"' },
      { line: 4, message: 'names no subject' },
      { line: 5, message: '"some day" is no moment' },
    ])
    expect(drafts).toEqual([{ line: 7, subject: 'd.test', rate: 0, expiresAt: NOW + 168 * HOUR }])
    expect(skipped).toBe(1)
  })
})

describe('decisions of CrowdSec', () => {
  test('are read as `cscli decisions list -o raw` prints them', () => {
    const text = [
      'id,source,ip,reason,action,country,as,events_count,expiration,simulated,alert_id',
      '1,crowdsec,Ip:192.0.2.7,crowdsecurity/ssh-bf,ban,FR,"64496 Example, Inc.",6,1h0m0s,false,9',
      '2,CAPI,Range:198.51.100.0/24,http:scan,ban,,,0,2h,false,9',
      '3,crowdsec,Ip:2001:db8::1,crowdsecurity/http,captcha,,,1,2h,false,9',
      '4,crowdsec,Ip:192.0.2.9,crowdsecurity/http,ban,,,1,2h,true,9',
      '5,crowdsec,Country:XX,manual,ban,,,1,2h,false,9',
    ].join('\n')
    const { format, drafts, mistakes, skipped } = read(text)
    expect(format).toBe('crowdsec')
    expect(drafts).toEqual([
      {
        line: 2,
        subject: '192.0.2.7',
        rate: 0,
        expiresAt: NOW + HOUR,
        reason: 'crowdsecurity/ssh-bf',
      },
      {
        line: 3,
        subject: '198.51.100.0/24',
        rate: 0,
        expiresAt: NOW + 2 * HOUR,
        reason: 'http:scan',
      },
    ])
    expect(skipped).toBe(2)
    expect(mistakes).toEqual([
      { line: 6, message: 'scope "country" is neither an address nor a range' },
    ])
  })

  test('are read as `cscli decisions import` takes them, in CSV and in JSON', () => {
    const one = [{ subject: '192.0.2.4', rate: 0, expiresAt: NOW + 4 * HOUR }]
    expect(read('duration,scope,value\n4h,ip,192.0.2.4\n').drafts).toMatchObject(one)
    const json = '[{"duration": "4h", "scope": "ip", "type": "ban", "value": "192.0.2.4"}]'
    expect(read(json)).toMatchObject({ format: 'crowdsec', drafts: one, mistakes: [] })
  })

  test('are read as alerts with their decisions; an ended one is skipped', () => {
    const decision = { scenario: 'ssh', scope: 'Ip', type: 'ban', value: '192.0.2.4' }
    const alerts = [
      { id: 1, decisions: [{ ...decision, duration: '1h' }] },
      { id: 2, decisions: [{ ...decision, duration: '-3m2s' }] },
    ]
    const { drafts, skipped } = read(JSON.stringify(alerts))
    expect(drafts).toMatchObject([{ subject: '192.0.2.4', reason: 'ssh' }])
    expect(skipped).toBe(1)
  })

  test('a field that is no text is none, however it is made', () => {
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    for (const value of ['{"toString":1}', deep]) {
      const { mistakes } = read(`[{"value":${value}}]`)
      expect(mistakes).toEqual([{ line: 1, message: 'names no subject' }])
    }
  })

  test('text that is no JSON is a mistake', () => {
    expect(read('[{"value": ').mistakes).toMatchObject([{ line: 1 }])
  })
})

describe('bans of fail2ban', () => {
  test('are read by jail as `fail2ban-client banned` prints them', () => {
    const text = "[{'sshd': ['192.0.2.7', '2001:db8::7']}, {'recidive': []}]"
    expect(read(text).drafts).toEqual([
      { line: 1, subject: '192.0.2.7', rate: 0, reason: 'sshd' },
      { line: 2, subject: '2001:db8::7', rate: 0, reason: 'sshd' },
    ])
  })

  test('a list that never ends is read in one pass', () => {
    const text = `[{'sshd': ['192.0.2.7']}, {${"'a':[".repeat(100_000)}`
    expect(read(text).drafts.map(({ subject }) => subject)).toEqual(['192.0.2.7'])
  })

  test('are read with their end, in the local time of the machine; a ban without an end has none', () => {
    const text = [
      '192.0.2.7 \t2026-11-17 11:00:00 + 86400 = 2026-11-18 11:00:00',
      '192.0.2.8 \t2026-11-17 11:00:00 + -1 = 9999-12-31 23:59:59',
    ].join('\n')
    const { format, drafts } = read(text)
    expect(format).toBe('fail2ban')
    const end = new Date(2026, 10, 18, 11).getTime() * 1_000
    expect(drafts).toEqual([
      { line: 1, subject: '192.0.2.7', rate: 0, expiresAt: end },
      { line: 2, subject: '192.0.2.8', rate: 0 },
    ])
  })
})

describe('a subject a line', () => {
  test('with remarks, and the rate and the end that the caller names', () => {
    const text = '# bad ones\n192.0.2.7 ; again\n\nhttps://a.test/#x\n'
    expect(subjects(text)).toEqual(['192.0.2.7', 'https://a.test/#x'])
    const ends = instant(NOW + HOUR)
    expect(read('a.test', { rate: 2, expiresAt: ends }).drafts).toEqual([
      { line: 1, subject: 'a.test', rate: 2, expiresAt: ends },
    ])
  })
})
