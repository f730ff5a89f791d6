import { expect, test } from 'vitest'
import { gateScene } from '../../test/support/gate.ts'
import type { Answer } from '../requests/limiter/charge.ts'
import { limiter } from '../requests/limiter/typed-limiter.ts'
import { type HeaderForm, headerLines, joined } from './header-forms.ts'

const scene = () => {
  const { clock, store } = gateScene()
  const limits = {
    Api: { burst: 10, period: '1m' },
    Small: { burst: 2, period: '1h' },
    New: { burst: 1, period: '1h', shadow: true },
  }
  const gate = limiter({ store, limits })
  const spend = (...names: readonly (keyof typeof limits)[]) =>
    gate.spend({ charges: names.map((limit) => ({ limit, id: 'x' })) })
  const shown = (answer: Answer, ...forms: readonly HeaderForm[]) =>
    Object.fromEntries(headerLines(answer, forms, clock).map(({ name, value }) => [name, value]))
  return { clock, spend, shown }
}

test('draft 10 has a member for each limit', async () => {
  const { spend, shown } = scene()
  expect(shown(await spend('Api', 'Small'), 'draft-10')).toEqual({
    'RateLimit-Policy': '"Api";q=10;w=60, "Small";q=2;w=3600',
    RateLimit: '"Api";r=9;t=6, "Small";r=1;t=1800',
  })
})

test('draft 7 has one limit in one field', async () => {
  const { spend, shown } = scene()
  expect(shown(await spend('Api'), 'draft-7')).toEqual({
    'RateLimit-Policy': '10;w=60',
    RateLimit: 'limit=10, remaining=9, reset=6',
  })
})

test('draft 6 has three fields, and the seconds to wait', async () => {
  const { spend, shown } = scene()
  expect(shown(await spend('Api'), 'draft-6')).toEqual({
    'RateLimit-Policy': '10;w=60',
    'RateLimit-Limit': '10',
    'RateLimit-Remaining': '9',
    'RateLimit-Reset': '6',
  })
})

test('X-RateLimit has the time of day in seconds', async () => {
  const { spend, shown } = scene()
  const midnight = Date.parse('2024-01-01T00:00:00Z') / 1_000
  expect(shown(await spend('Api'), 'x-ratelimit')).toEqual({
    'X-RateLimit-Limit': '10',
    'X-RateLimit-Remaining': '9',
    'X-RateLimit-Reset': String(midnight + 6),
  })
})

test('forms may go together', async () => {
  const { spend, shown } = scene()
  expect(Object.keys(shown(await spend('Api'), 'draft-10', 'x-ratelimit'))).toHaveLength(5)
})

test('the older forms show the limit that binds first, and no shadow', async () => {
  const { spend, shown } = scene()
  expect(shown(await spend('Api', 'Small', 'New'), 'draft-6')).toMatchObject({
    'RateLimit-Limit': '2',
    'RateLimit-Remaining': '1',
  })
  await spend('Small')
  const refused = await spend('Api', 'Small')
  expect(shown(refused, 'draft-6')).toMatchObject({
    'RateLimit-Remaining': '0',
    'RateLimit-Reset': '1800',
    'Retry-After': '1800',
  })
  expect(shown(await spend('New'), 'draft-6')).toEqual({})
})

test('Retry-After comes with a refusal whatever the forms', async () => {
  const { spend, shown } = scene()
  await spend('Small')
  await spend('Small')
  expect(shown(await spend('Small'))).toEqual({ 'Retry-After': '1800' })
})

test('a list goes on where an earlier gate began; any other field is replaced', () => {
  const list = { name: 'RateLimit', value: '"B";r=1', joins: true } as const
  expect(joined(list, '"A";r=2')).toBe('"A";r=2, "B";r=1')
  expect(joined(list, undefined)).toBe('"B";r=1')
  expect(joined(list, '')).toBe('"B";r=1')
  expect(joined({ name: 'Retry-After', value: '3' }, '9')).toBe('3')
})
