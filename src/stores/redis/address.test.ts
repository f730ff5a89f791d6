import { describe, expect, test } from 'vitest'
import { parseRedisUrl } from './address.ts'

const HERE = { host: 'localhost', port: 6_379 }
const PLAIN = {
  hosts: [HERE],
  username: undefined,
  password: undefined,
  database: 0,
  tls: false,
  cluster: false,
}

describe('a URL names', () => {
  test.each([
    ['redis://localhost', {}],
    ['redis://localhost:7000/', { hosts: [{ host: 'localhost', port: 7_000 }] }],
    ['redis://localhost/3', { database: 3 }],
    ['rediss://localhost', { tls: true }],
    ['redis://:secret@localhost', { password: 'secret' }],
    ['redis://ann:s%40cret%2F@localhost', { username: 'ann', password: 's@cret/' }],
    ['redis://[::1]:7000', { hosts: [{ host: '::1', port: 7_000 }] }],
    [
      'redis+cluster://a:7000,b:7001,c',
      {
        cluster: true,
        hosts: [
          { host: 'a', port: 7_000 },
          { host: 'b', port: 7_001 },
          { host: 'c', port: 6_379 },
        ],
      },
    ],
    ['rediss+cluster://ann@localhost/0', { cluster: true, tls: true, username: 'ann' }],
  ])('%s', (url, found) => {
    expect(parseRedisUrl(url)).toEqual({ ...PLAIN, ...found })
  })
})

describe('refused, without a word of what may be a password', () => {
  test.each([
    'redis:',
    'redis://',
    'http://localhost',
    'redis://secret@',
    'redis://localhost:0',
    'redis://localhost:65536',
    'redis://localhost/secret',
    'redis://a,b',
    'redis+cluster://a/1',
    'redis://ann:100%secret@localhost',
    'redis://a b',
  ])('%s', (url) => {
    const refused = expect.objectContaining({ code: 'REDIS_URL_INVALID' })
    expect(() => parseRedisUrl(url)).toThrow(refused)
    expect(() => parseRedisUrl(url)).not.toThrow('secret')
  })
})
