import { expect, test } from 'vitest'
import { timeSource } from './time-source.ts'

const read = (text: string) =>
  timeSource.fromText({ text, thing: 'timeSources', code: 'SETTING_INVALID' }, {})

test('a time source is asked over TLS, or is this machine', () => {
  for (const url of [
    'https://example.org',
    'http://localhost:80/',
    'http://127.0.0.1:1',
    'http://[::1]/',
  ]) {
    expect(read(url)).toBe(url)
  }
  for (const url of [
    'http://example.org',
    'http://localhost.example',
    'ntp://a',
    'pool.ntp.org',
    '',
  ]) {
    expect(() => read(url)).toThrow('must be an https URL')
  }
})
