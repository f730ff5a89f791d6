import { expect, test } from 'vitest'
import { createOuterLimit } from './outer-limit.ts'

const from = (client: string) => ({
  method: 'POST',
  path: '/domain/sign',
  headers: {},
  body: new Uint8Array(),
  client,
})

test('each address has its own bucket, and a whole IPv6 /64 has one', async () => {
  const ask = createOuterLimit({ perAddress: { count: 1, period: '1h' } })
  expect(await ask(from('192.0.2.1'))).toEqual({ allowed: true })
  expect(await ask(from('192.0.2.1'))).toMatchObject({ allowed: false })
  expect(await ask(from('::ffff:192.0.2.1'))).toMatchObject({ allowed: false })
  expect(await ask(from('192.0.2.2'))).toEqual({ allowed: true })
  expect(await ask(from('2001:db8::1'))).toEqual({ allowed: true })
  expect(await ask(from('2001:db8::2'))).toMatchObject({ allowed: false })
})

test('what an address may not ask is not counted against all', async () => {
  const ask = createOuterLimit({
    perAddress: { count: 1, period: '1h' },
    inAll: { count: 2, period: '1h' },
  })
  for (let i = 0; i < 5; i++) await ask(from('192.0.2.1'))
  expect(await ask(from('192.0.2.2'))).toEqual({ allowed: true })
  expect(await ask(from('192.0.2.3'))).toMatchObject({ allowed: false })
})

test('no rates, no limits', async () => {
  const ask = createOuterLimit({})
  for (let i = 0; i < 100; i++) expect(await ask(from('192.0.2.1'))).toEqual({ allowed: true })
})
