import { describe, expect, test } from 'vitest'
import { gateScene, plainDoor } from '../../test/support/gate.ts'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { limiter } from '../requests/limiter/typed-limiter.ts'
import { createGate } from './gate.ts'

const limits = { Api: { burst: 10, period: '1m' } }
const { store } = gateScene()
const given = limiter({ store, limits })
const verbs = { spend: given.spend, refund: given.refund }
const placed = limiter({ store, limits: { Jobs: { atOnce: 1, heldFor: '1s' } } })

/** As a program in JavaScript would: the types would not let most of these pass. */
const make = (options: unknown, door = plainDoor) => {
  const passed: { options: never } = { options: options as never }
  return createGate(door, passed.options)
}

test.each<[string, object]>([
  ['inline limits', { limits }],
  ['a store', { limits, store }],
  ['one name', { limiter: given, limits: 'Api' }],
  ['names', { limiter: given, limits: ['Api'] }],
  ['names with terms', { limiter: given, limits: [{ limit: 'Api', who: 'key', cost: 2 }] }],
  [
    'all that may be said',
    {
      limits,
      who: 'user',
      cost: 0,
      skip: () => false,
      refusal: { status: 503, body: {}, headers: {} },
      onStoreFailure: 'open',
      headers: ['draft-6', 'x-ratelimit'],
      refund: true,
      proxy: { trusted: ['10.0.0.0/8', '::1'] },
      ipv6Prefix: 56,
      warn: () => undefined,
    },
  ],
  ['no headers', { limits, headers: false }],
  ['a limiter of which only the verbs are known', { limiter: verbs, limits: 'Other' }],
  ['headers of a refusal', { limits, refusal: { headers: { 'X-Why': 'caf\u00e9\t!' } } }],
  ['limits without a prototype', { limits: Object.assign(Object.create(null), limits) }],
  ['absent by undefined', { limits, who: undefined, skip: undefined, headers: undefined }],
])('%s can be read', (_, options) => {
  expect(() => make(options)).not.toThrow()
})

describe('a slip is told when the gate is made', () => {
  test.each<[string, unknown, string, string]>([
    ['nothing', undefined, 'FIELD_TYPE', 'must be an object of options, found nothing'],
    ['no limits', {}, 'FIELD_MISSING', 'plainGate.limits: must hold at least one limit'],
    ['empty limits', { limits: {} }, 'FIELD_MISSING', 'at least one limit'],
    ['a typing mistake', { limits, hedaers: false }, 'FIELD_UNKNOWN', 'did you mean headers?'],
    ['a name from elsewhere', { windowMs: 1 }, 'FIELD_UNKNOWN', 'here it is period, in each of'],
    ['another such name', { keyGenerator: 1 }, 'FIELD_UNKNOWN', '(here it is who)'],
    [
      'a name from elsewhere, where it would not fit',
      { refusal: { message: 'no' } },
      'FIELD_UNKNOWN',
      'found "message"',
    ],
    ['a mistyped rate', { limits: { A: { brust: 1 } } }, 'FIELD_UNKNOWN', 'did you mean burst?'],
    ['places', { limits: { A: { atOnce: 1, heldFor: '1s' } } }, 'FIELD_VALUE', 'must be a rate'],
    ['half a rate', { limits: { A: { burst: 1 } } }, 'FIELD_MISSING', 'period'],
    ['a limit that is none', { limits: { A: 3 } }, 'FIELD_TYPE', 'A: must be an object'],
    ['names without a limiter', { limits: ['Api'] }, 'FIELD_TYPE', 'names alone need a limiter'],
    ['one without a limiter', { limits: 'Api' }, 'FIELD_TYPE', 'names alone need a limiter'],
    ['a limiter without names', { limiter: given }, 'FIELD_VALUE', 'must name limits of'],
    ['no name among them', { limiter: given, limits: [] }, 'FIELD_VALUE', 'must name limits of'],
    ['a rate beside a limiter', { limiter: given, limits }, 'FIELD_UNKNOWN', 'limit, who, cost'],
    ['a limiter and a store', { limiter: given, limits: 'Api', store }, 'FIELD_VALUE', 'both'],
    ['a word for who', { limits, who: 'adress' }, 'FIELD_VALUE', 'did you mean address?'],
    ['a number for who', { limits, who: 7 }, 'FIELD_TYPE', 'plainGate.who: must be a function'],
    ['who in a limit', { limits: { A: { ...limits.Api, who: 'x' } } }, 'FIELD_VALUE', 'A.who'],
    ['half a token', { limits, cost: 0.5 }, 'FIELD_VALUE', 'a whole number from 0'],
    ['a cost above the burst', { limits, cost: 11 }, 'FIELD_VALUE', 'at most the burst of 10'],
    ['text for skip', { limits, skip: 'yes' }, 'FIELD_TYPE', 'skip: must be a function'],
    ['a refusal of 200,000', { limits, refusal: { status: 2e5 } }, 'FIELD_VALUE', '200 to 599'],
    ['a refusal that is text', { limits, refusal: 'no' }, 'FIELD_TYPE', 'must be an object'],
    ['a message', { limits, refusal: { message: 'no' } }, 'FIELD_UNKNOWN', 'status, body, headers'],
    ['a policy', { limits, onStoreFailure: 'ajar' }, 'FIELD_VALUE', 'must be open or closed'],
    ['a form', { limits, headers: 'draft-8' }, 'FIELD_VALUE', 'false or some of draft-10'],
    ['two drafts', { limits, headers: ['draft-6', 'draft-10'] }, 'FIELD_VALUE', 'one draft'],
    ['text for refund', { limits, refund: 'always' }, 'FIELD_TYPE', 'refund: must be a function'],
    ['an empty proxy', { limits, proxy: {} }, 'FIELD_VALUE', 'one of hops, trusted, header'],
    ['true for a proxy', { limits, proxy: true }, 'FIELD_TYPE', 'must be an object'],
    ['no hops', { limits, proxy: { hops: 0 } }, 'FIELD_VALUE', 'from 1 to 32'],
    ['no range', { limits, proxy: { trusted: ['10.1.2.3/8'] } }, 'FIELD_VALUE', '"10.1.2.3/8"'],
    ['no list', { limits, proxy: { trusted: 'loopback' } }, 'FIELD_TYPE', 'must be a list'],
    [
      'a list header',
      { limits, proxy: { header: 'X-Forwarded-For' } },
      'FIELD_VALUE',
      'one address',
    ],
    ['a narrow prefix', { limits, ipv6Prefix: 128 }, 'FIELD_VALUE', '32 to 64'],
    ['an unknown name', { limiter: given, limits: 'Apii' }, 'LIMIT_UNKNOWN', 'did you mean Api?'],
    ['one among them', { limiter: given, limits: ['Api', 'X'] }, 'LIMIT_UNKNOWN', '"X"'],
    ['places by name', { limiter: placed, limits: 'Jobs' }, 'FIELD_VALUE', 'holds no places'],
    ['a price by name', { limiter: given, limits: 'Api', cost: 11 }, 'FIELD_VALUE', 'burst of 10'],
    ['a limiter that is none', { limiter: {}, limits: 'Api' }, 'FIELD_TYPE', 'must be a limiter'],
    ['no limiter', { limiter: null, limits: 'Api' }, 'FIELD_TYPE', 'found nothing'],
    ['a store that is none', { limits, store: {} }, 'FIELD_TYPE', 'such as memory()'],
    ['text for a store', { limits, store: 'memory:' }, 'FIELD_TYPE', 'such as memory()'],
    ['no content', { limits, refusal: { status: 204 } }, 'FIELD_VALUE', 'one that has a body'],
    ['reset content', { limits, refusal: { status: 205 } }, 'FIELD_VALUE', 'one that has a body'],
    ['not modified', { limits, refusal: { status: 304 } }, 'FIELD_VALUE', 'one that has a body'],
    ['a body of 7', { limits, refusal: { body: 7 } }, 'FIELD_TYPE', 'text, or an object'],
    ['a body of money', { limits, refusal: { body: { a: 1n } } }, 'FIELD_TYPE', 'JSON can hold'],
    ['a header name', { limits, refusal: { headers: { 'X Y': '' } } }, 'FIELD_VALUE', '"X Y"'],
    ['two lines', { limits, refusal: { headers: { X: 'a\r\nb' } } }, 'FIELD_VALUE', 'of one line'],
    ['a number', { limits, refusal: { headers: { X: 7 } } }, 'FIELD_VALUE', 'headers.X'],
    ['no headers', { limits, refusal: { headers: 'X: 1' } }, 'FIELD_TYPE', 'texts by names'],
    [
      '__proto__',
      { limits: JSON.parse('{"__proto__":{"burst":1,"period":"1s"}}') },
      'LIMIT_NAME_INVALID',
      '__proto__',
    ],
    ['a prototype', { limits: { ...limits, __proto__: limits.Api } }, 'FIELD_TYPE', 'plain object'],
  ])('%s', (_, options, code, words) => {
    const mistake = mistakeOf(() => make(options))
    expect(mistake.code).toBe(code)
    expect(mistake.message).toContain(words)
  })

  test('the user, where the framework has no place for one', () => {
    const { user: _, ...door } = plainDoor
    expect(mistakeOf(() => make({ limits, who: 'user' }, door)).rule).toContain('a function')
  })
})
