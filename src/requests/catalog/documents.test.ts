import { expect, test } from 'vitest'
import { mistakeOf } from '../../../test/support/mistake-of.ts'
import { mistakesIn } from '../../documents/mistakes.ts'
import { parseCatalog } from '../yaml.ts'

/** Where each mistake is, and its code. */
const placesOf = (texts: Parameters<typeof parseCatalog>[0]) =>
  mistakesIn(mistakeOf(() => parseCatalog(texts))).map(({ code, at }) => [
    code,
    `${at?.file}:${at?.line}`,
  ])

test('every mistake of every document is told at once', () => {
  const limits = `
Logins: { burst: 0, count: many, period: soon, onStoreFailure: ajar }
Mails: { burst: 5, period: 1m, shadow: perhaps, colour: red, size: 5 }
7Up: { burst: 5, period: 1m }
Files: { atOnce: 0, heldFor: 1m }
Calls: { burst: 5 }
`
  const defaults = `
Calls: { burst: 0, count: 1 }
Nobody: { burst: 1, count: 1, period: 1h }
`
  const overrides = `
- Mails: { burst: -1, count: 1, period: 1h, ids: ["", ann, ann] }
- Mails: { burst: 1, count: 1, period: 1h, ids: [bob, bob, "\u0001"] }
- Nobody: { burst: 1, count: x, period: 1h, ids: [] }
- {}
`
  expect(placesOf({ limits, defaults, overrides })).toEqual([
    ['FIELD_VALUE', 'limits:2'],
    ['FIELD_TYPE', 'limits:2'],
    ['FIELD_VALUE', 'limits:2'],
    ['FIELD_VALUE', 'limits:2'],
    ['FIELD_UNKNOWN', 'limits:3'],
    ['FIELD_UNKNOWN', 'limits:3'],
    ['FIELD_TYPE', 'limits:3'],
    ['LIMIT_NAME_INVALID', 'limits:4'],
    ['FIELD_VALUE', 'limits:5'],
    ['FIELD_MISSING', 'limits:6'],
    ['FIELD_MISSING', 'defaults:2'],
    ['FIELD_VALUE', 'defaults:2'],
    ['LIMIT_UNKNOWN', 'defaults:3'],
    ['FIELD_VALUE', 'overrides:2'],
    ['ID_INVALID', 'overrides:2'],
    ['ID_DUPLICATE', 'overrides:3'],
    ['ID_INVALID', 'overrides:3'],
    ['LIMIT_UNKNOWN', 'overrides:4'],
    ['FIELD_TYPE', 'overrides:4'],
    ['FIELD_VALUE', 'overrides:4'],
    ['FIELD_VALUE', 'overrides:5'],
  ])
})

test('a limit whose declaration has a mistake is not unknown elsewhere', () => {
  const limits = 'Logins: { id: nonsense, burst: 5, period: 1m }'
  const overrides = '[{ Logins: { burst: 1, count: 1, period: 1h, ids: [ann] } }]'
  expect(placesOf({ limits, overrides })).toEqual([['FIELD_VALUE', 'limits:1']])
})

test('a burst that stands for the count too is told once', () => {
  expect(placesOf({ limits: 'Logins: { burst: 0, period: 1m }' })).toEqual([
    ['FIELD_VALUE', 'limits:1'],
  ])
})
