import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { gateScene, type PlainRequest, plainDoor } from '../../test/support/gate.ts'
import { createWarnings } from './warnings.ts'
import { idsOf, type Who } from './who.ts'

const scene = () => {
  const { warn, codes } = gateScene()
  const ids = idsOf(plainDoor, ({ ip = 'unknown' }) => ip, createWarnings(warn))
  const idOf = async (who: Who<PlainRequest>, request: PlainRequest) =>
    await ids(who, { ip: '203.0.113.7', ...request }, undefined)
  return { idOf, codes }
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64url')

test('an address counts as it is, so that overrides and other programs can name it', async () => {
  expect(await scene().idOf('address', {})).toBe('203.0.113.7')
})

describe('a user', () => {
  test.each<[unknown, string]>([
    ['ann', 'ann'],
    [7, '7'],
    [{ id: 12n, name: 'ann' }, '12'],
    [{ id: 'a', sub: 'b' }, 'a'],
    [{ sub: 'b' }, 'b'],
  ])('%o counts as %s', async (user, id) => {
    const { idOf, codes } = scene()
    expect(await idOf('user', { user })).toBe(id)
    expect(codes()).toEqual([])
  })

  test('that is absent leaves the address, in a bucket of its own', async () => {
    const { idOf, codes } = scene()
    for (const user of [undefined, null, '', { id: '' }]) {
      expect(await idOf('user', { user })).toBe('address:203.0.113.7')
    }
    expect(codes()).toEqual([])
  })

  test('without an id is logged, and counts by the address', async () => {
    const { idOf, codes } = scene()
    for (const user of [{ name: 'ann' }, true, { id: { nested: 1 } }]) {
      expect(await idOf('user', { user })).toBe('address:203.0.113.7')
    }
    expect(codes()).toEqual(['USER_WITHOUT_ID'])
  })
})

describe('a key', () => {
  test.each([
    { authorization: 'Bearer s3cret' },
    { authorization: 'bearer  s3cret' },
    { 'x-api-key': 's3cret' },
    { 'x-api-key': 's3cret', authorization: 'Basic YTpi' },
  ])('is kept as its digest: %j', async (headers) => {
    expect(await scene().idOf('key', { headers })).toBe(`key:${digest('s3cret')}`)
  })

  test('that is absent leaves the address', async () => {
    const { idOf } = scene()
    expect(await idOf('key', {})).toBe('address:203.0.113.7')
    expect(await idOf('key', { headers: { authorization: 'Bearer ' } })).toBe('address:203.0.113.7')
  })
})

describe('a function', () => {
  test('says who it is, at once or later', async () => {
    const { idOf } = scene()
    expect(await idOf(() => 'tenant-7', {})).toBe('tenant-7')
    expect(await idOf(async () => 7, {})).toBe('7')
    const promise = Promise.resolve('tenant-8')
    // biome-ignore lint/suspicious/noThenProperty: what promises of other libraries have, and no more
    expect(await idOf(() => ({ then: promise.then.bind(promise) }), {})).toBe('tenant-8')
  })

  test('that says nothing leaves the address', async () => {
    const { idOf } = scene()
    expect(await idOf(() => undefined, {})).toBe('address:203.0.113.7')
    expect(await idOf(async () => null, {})).toBe('address:203.0.113.7')
  })

  test('may say any text: what is no id counts by its digest', async () => {
    const { idOf } = scene()
    const long = 'x'.repeat(513)
    expect(await idOf(() => long, {})).toBe(`sha256:${digest(long)}`)
    expect(await idOf(() => 'a\nb', {})).toBe(`sha256:${digest('a\nb')}`)
    expect(await idOf(() => 'é🚰', {})).toBe('é🚰')
  })
})

test('two different keys in one request count by the address: one of them may be made up', async () => {
  const { warn } = gateScene()
  const idOf = idsOf(plainDoor, () => 'one', createWarnings(warn))
  const ids = [1, 2, 3].map((i) =>
    idOf(
      'key',
      {
        ip: '203.0.113.1',
        headers: { 'x-api-key': 'valid', authorization: `Bearer junk${i}` },
      },
      undefined,
    ),
  )
  expect(new Set(ids).size).toBe(1)
})
