import { createServer, type RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { HeadgateError } from '../../core/errors.ts'
import { millis, seconds } from '../../core/time.ts'
import { rateOf } from './exchange-rate.ts'
import { createMirrorNode, MAX_ANSWER_BYTES } from './mirror-node.ts'

/** A mirror node of our own on a free port. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}`
}

const answers =
  (bodies: Readonly<Record<string, string>>): RequestListener =>
  (request, response) => {
    const body = bodies[request.url ?? '']
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(body ?? '{"_status":{"messages":[{"message":"Not found"}]}}')
  }

async function codeOf(asked: Promise<unknown>): Promise<string> {
  const error = await asked.catch((thrown: unknown) => thrown)
  if (error instanceof HeadgateError) return error.code
  throw new Error('expected a HeadgateError')
}

const RATE = '/api/v1/network/exchangerate'
const ACCOUNT = '/api/v1/accounts/0.0.2?transactions=false'
const BALANCES = '/api/v1/balances?account.id=0.0.2'

test('the current exchange rate is read as the fraction it is', async () => {
  const body = `{"current_rate":{"cent_equivalent":596987,"expiration_time":1689278400,"hbar_equivalent":30000},
    "next_rate":{"cent_equivalent":594920,"expiration_time":1689282000,"hbar_equivalent":30000},"timestamp":"1689277200.000000000"}`
  const node = createMirrorNode({ url: `${await serve(answers({ [RATE]: body }))}/` })
  expect(await node.exchangeRate()).toEqual({
    cents: 596_987n,
    hbars: 30_000n,
    expiresAt: 1_689_278_400_000_000,
  })
})

test('a balance is exact beyond 2^53, and as old as the network says', async () => {
  const body =
    '{"account":"0.0.2","alias":null,"balance":{"balance":9007199254740993,"timestamp":"1586567700.453054123","tokens":[]}}'
  const node = createMirrorNode({ url: await serve(answers({ [ACCOUNT]: body })) })
  expect(await node.balance('0.0.2')).toEqual({
    account: '0.0.2',
    amount: 9007199254740993n,
    at: 1_586_567_700_453_054,
  })
})

test('a mirror node without accounts is asked for balances', async () => {
  const body =
    '{"timestamp":"1586567700.453054000","balances":[{"account":"0.0.2","balance":80,"tokens":[]}],"links":{"next":null}}'
  const node = createMirrorNode({ url: await serve(answers({ [BALANCES]: body })) })
  expect((await node.balance('0.0.2')).amount).toBe(80n)
})

test.each([
  ['no JSON', 'oops'],
  ['a list', '[]'],
  ['another account', '{"account":"0.0.3","balance":{"balance":1,"timestamp":"1.000000000"}}'],
  ['a negative balance', '{"account":"0.0.2","balance":{"balance":-1,"timestamp":"1.000000000"}}'],
  ['a balance as text', '{"account":"0.0.2","balance":{"balance":"1","timestamp":"1.000000000"}}'],
  ['no time', '{"account":"0.0.2","balance":{"balance":1}}'],
  ['a vague time', '{"account":"0.0.2","balance":{"balance":1,"timestamp":"1"}}'],
])('an answer with %s is no balance', async (_, body) => {
  const node = createMirrorNode({ url: await serve(answers({ [ACCOUNT]: body })) })
  expect(await codeOf(node.balance('0.0.2'))).toBe('MIRROR_ANSWER_INVALID')
})

test.each([
  [
    'two accounts',
    '{"timestamp":"1.000000000","balances":[{"account":"0.0.2","balance":1},{"account":"0.0.2","balance":2}]}',
  ],
  ['no account', '{"timestamp":"1.000000000","balances":[]}'],
  ['no list', '{"timestamp":"1.000000000","balances":{}}'],
])('balances of %s are none', async (_, body) => {
  const node = createMirrorNode({ url: await serve(answers({ [BALANCES]: body })) })
  expect(await codeOf(node.balance('0.0.2'))).toBe('MIRROR_ANSWER_INVALID')
})

test('a rate of nothing is no rate', async () => {
  const body = '{"current_rate":{"cent_equivalent":0,"expiration_time":1,"hbar_equivalent":30000}}'
  const node = createMirrorNode({ url: await serve(answers({ [RATE]: body })) })
  expect(await codeOf(node.exchangeRate())).toBe('MIRROR_ANSWER_INVALID')
})

test('a mirror node that is silent, refuses, errs or talks without end is unavailable', async () => {
  const silent = createMirrorNode({ url: await serve(() => {}), timeout: millis(50) })
  expect(await codeOf(silent.exchangeRate())).toBe('MIRROR_UNAVAILABLE')

  const stalling = await serve((_, response) => response.writeHead(200).write('{"current'))
  expect(
    await codeOf(createMirrorNode({ url: stalling, timeout: millis(50) }).exchangeRate()),
  ).toBe('MIRROR_UNAVAILABLE')

  const absent = createMirrorNode({ url: 'http://127.0.0.1:1', timeout: seconds(5) })
  expect(await codeOf(absent.exchangeRate())).toBe('MIRROR_UNAVAILABLE')

  const erring = createMirrorNode({
    url: await serve((_, response) => response.writeHead(503).end()),
  })
  expect(await codeOf(erring.balance('0.0.2'))).toBe('MIRROR_UNAVAILABLE')

  const endless = await serve((_, response) => {
    const more = () => response.write('x'.repeat(MAX_ANSWER_BYTES / 4), () => setImmediate(more))
    response.on('error', () => {})
    more()
  })
  expect(
    await codeOf(createMirrorNode({ url: endless, timeout: seconds(30) }).exchangeRate()),
  ).toBe('MIRROR_UNAVAILABLE')
})

test('a divided price is taken to twelve places; what is no price is none', () => {
  expect(rateOf(12)).toEqual({ cents: 12_000_000_000_000n, hbars: 1_000_000_000_000n })
  for (const none of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e-13, 1e9]) {
    expect(rateOf(none)).toBeUndefined()
  }
})
