/** What a contract is asked, and what counts as its yes. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { requestFor } from '../../../test/support/odis-requests.ts'
import { CHAINS, defined, samples, varied } from '../../../test/support/odis-samples.ts'
import { signerBench } from '../../../test/support/odis-signer.ts'
import { ZERO_ADDRESS } from '../eip712/ethereum.ts'
import { accessController, callData, jsonRpc, type RpcAnswer } from './access-controller.ts'

const TRUE = `0x${'1'.padStart(64, '0')}`

const QUESTION = {
  chainId: 42_220,
  contract: ZERO_ADDRESS,
  domainData: Uint8Array.of(1, 2),
  authorization: new Uint8Array(33).fill(7),
  notBeforeBlock: 100,
}

/** A node of chain 42220 at block 256, but for the answers given. */
const node = (answers: Readonly<Record<string, RpcAnswer>> = {}) => {
  const known: Readonly<Record<string, RpcAnswer>> = {
    eth_chainId: { result: '0xa4ec' },
    eth_blockNumber: { result: '0x100' },
    eth_call: { result: TRUE },
    ...answers,
  }
  const calls: (readonly unknown[])[] = []
  const call = async (method: string, params: readonly unknown[]) => {
    calls.push([method, ...params])
    return known[method] ?? { error: 'unknown method' }
  }
  return { calls, controller: accessController({ call }) }
}

const listeningOn = async (server: Server): Promise<string> => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
}

test('a contract that returns true allows it, asked at the block that the node is at', async () => {
  const { calls, controller } = node()
  expect(await controller.ask(QUESTION)).toBeUndefined()
  const data = `0x${Buffer.from(callData(QUESTION)).toString('hex')}`
  expect(calls.at(-1)).toEqual(['eth_call', { to: ZERO_ADDRESS, data }, '0x100'])
})

test('the block that a client names is late enough, one before it is not', async () => {
  const { controller } = node()
  expect(await controller.ask({ ...QUESTION, notBeforeBlock: 256 })).toBeUndefined()
  const asked = controller.ask({ ...QUESTION, notBeforeBlock: 257 })
  await expect(asked).rejects.toMatchObject({ code: 'CHAIN_BEHIND' })
})

test('the call holds two offsets, then each length and its padded bytes', () => {
  const words = Buffer.from(callData(QUESTION).subarray(4)).toString('hex').match(/.{64}/g) ?? []
  const number = (value: number) => value.toString(16).padStart(64, '0')
  expect(words).toEqual([
    number(64),
    number(128),
    number(2),
    '0102'.padEnd(64, '0'),
    number(33),
    '07'.repeat(32),
    '07'.padEnd(64, '0'),
  ])
})

test.each([
  ['another chain', { eth_chainId: { result: '0x1' } }, 'a node of chain 1'],
  ['a contract that returns false', { eth_call: { result: `0x${'0'.repeat(64)}` } }, 'does not'],
  ['more than one word', { eth_call: { result: `${TRUE}00` } }, 'does not allow it'],
  ['a call that reverts', { eth_call: { reverted: true } }, 'a contract that reverts'],
] as const)('%s does not', async (_, answers, finding) => {
  expect(await node(answers).controller.ask(QUESTION)).toContain(finding)
})

test.each([
  ['an older block', 'CHAIN_BEHIND', { eth_blockNumber: { result: '0x63' } }, 'block 99'],
  ['no chain at all', 'CHAIN_DOWN', { eth_chainId: { error: 'x' } }, 'x'],
  ['no block at all', 'CHAIN_DOWN', { eth_blockNumber: { error: 'x' } }, 'x'],
  ['a block that is no number', 'CHAIN_DOWN', { eth_blockNumber: { result: 'x' } }, 'no number'],
  ['a call that the node fails', 'CHAIN_DOWN', { eth_call: { error: 'error -32005' } }, '-32005'],
] as const)('%s says nothing about who asks', async (_, code, answers, finding) => {
  const asked = node(answers).controller.ask(QUESTION)
  await expect(asked).rejects.toMatchObject({
    name: 'ChainError',
    code,
    finding: expect.stringContaining(finding),
  })
})

describe('over HTTP', () => {
  const sample = samples('chain')['smart contract']
  const [chainId] = CHAINS

  /** A signer whose node answers with these texts, by method; undefined: a node that is not there. */
  const signerAt = async (texts: Readonly<Record<string, string>> | undefined) => {
    const server = createServer(async (request, response) => {
      const { method } = JSON.parse(Buffer.concat(await request.toArray()).toString())
      response.end(texts?.[method] ?? JSON.stringify({ result: WELL[method] }))
    })
    const url = await listeningOn(server)
    if (texts === undefined) await new Promise((resolve) => server.close(resolve))
    else onTestFinished(() => void server.close())
    return signerBench({ kinds: { contracts: accessController(jsonRpc({ url })) } })
  }
  const WELL: Readonly<Record<string, string>> = {
    eth_chainId: `0x${chainId.toString(16)}`,
    eth_blockNumber: '0x100',
    eth_call: TRUE,
  }
  const failure = (code: number, message: string) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } })

  test.each([
    ['is not there', undefined],
    ['talks no JSON', { eth_chainId: '<html>' }],
    ['sends more than we read', { eth_chainId: `{"result":"${'0'.repeat(100_000)}"}` }],
    ['sends neither result nor error', { eth_chainId: '{}' }],
    ['has too much to do', { eth_call: failure(-32_005, 'limit exceeded') }],
    ['does not know the block', { eth_call: failure(-32_000, 'header not found') }],
  ])('a node that %s is 503 with Retry-After, not 401', async (_, texts) => {
    const bench = await signerAt(texts)
    const reply = await bench.ask('sign', requestFor(sample))
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    expect(reply.body.error).toBe('CHAIN_DOWN the node of the chain does not answer')
    expect(bench.events.at(-1)).toMatchObject({
      outcome: 'CHAIN_DOWN',
      fault: { code: 'CHAIN_DOWN' },
    })
    expect(bench.evaluations()).toBe(0)
  })

  test.each([
    failure(3, 'execution reverted: no'),
    failure(-32_015, 'VM execution error.'),
    failure(-32_000, 'execution reverted'),
    failure(-32_000, 'invalid opcode: INVALID'),
  ])('a contract that fails is 401: %s', async (text) => {
    const bench = await signerAt({ eth_call: text })
    expect((await bench.ask('sign', requestFor(sample))).status).toBe(401)
  })

  test('a node that sends us elsewhere is not followed: 503', async () => {
    const willing = createServer(async (request, response) => {
      const { method } = JSON.parse(Buffer.concat(await request.toArray()).toString())
      response.end(JSON.stringify({ result: WELL[method] }))
    })
    const elsewhere = await listeningOn(willing)
    const node = createServer((_, response) =>
      response.writeHead(307, { location: elsewhere }).end(),
    )
    const url = await listeningOn(node)
    onTestFinished(() => {
      willing.close()
      node.close()
    })
    const bench = signerBench({ kinds: { contracts: accessController(jsonRpc({ url })) } })
    expect((await bench.ask('sign', requestFor(sample))).status).toBe(503)
  })

  test('a node that has not come to the block is 503 with Retry-After', async () => {
    const bench = await signerAt({})
    const late = varied(sample, { options: { notBeforeBlock: defined(257) } })
    const reply = await bench.ask('sign', requestFor(late))
    expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '5' } })
    expect(reply.body.error).toMatch(/^CHAIN_BEHIND /)
    expect((await bench.ask('sign', requestFor(sample))).status).toBe(200)
  })
})
