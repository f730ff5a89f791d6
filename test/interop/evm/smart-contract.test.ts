/** The smart contract domain against a real Ethereum virtual machine. */
import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { millis } from '../../../src/core/time.ts'
import {
  accessController,
  type Conduct,
  jsonRpc,
  type RegistryOptions,
} from '../../../src/secrets/index.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { askSigner, provideKey, startSigner } from '../../support/odis-process.ts'
import { requestFor } from '../../support/odis-requests.ts'
import { orderOfAnswers } from '../../support/odis-rows.ts'
import {
  CHAINS,
  CONTRACTS,
  defined,
  none,
  samples,
  type Variation,
  varied,
} from '../../support/odis-samples.ts'
import { signerBench } from '../../support/odis-signer.ts'
import { install } from '../install.ts'
import type { Chain } from './chain.js'

let chain: Chain
let otherChain: Chain

beforeAll(async () => {
  install('evm/')
  const { startChain } = await import('./chain.js')
  chain = await startChain({ chainId: CHAINS[0] })
  otherChain = await startChain({ chainId: CHAINS[1] })
  for (const contract of CONTRACTS) await chain.deploy(contract, EQUALS_CODE)
  await otherChain.deploy(CONTRACTS[0], EQUALS_CODE)
  await chain.deploy(EVERYBODY, '0x600160005260206000f3')
  await chain.deploy(TWO, '0x600260005260206000f3')
  await chain.deploy(REVERTS, '0x60006000fd')
}, 300_000)
afterAll(() => {
  chain.close()
  otherChain.close()
})

const EVERYBODY = `0x${'11'.repeat(20)}`
const TWO = `0x${'22'.repeat(20)}`
const REVERTS = `0x${'33'.repeat(20)}`

/** The first four bytes of keccak("shouldAllowOdisRequest(bytes,bytes)"). */
const SELECTOR = '57453338'

/** The hash of an argument of bytes, whose offset stands in this slot of the call. */
const hashOf = (slot: string) => `60${slot}356004018035906020018190600037600020`

/**
 * Allows whoever sends the domain's data as authorisation: hashes both arguments and compares, and
 * reverts for any other function.
 */
const EQUALS_CODE = [
  '0x60003560e01c63',
  SELECTOR,
  '1460145760006000fd5b',
  hashOf('04'),
  hashOf('24'),
  '1460005260206000f3',
].join('')

const nodeAt = (url: string) => accessController(jsonRpc({ url, timeout: millis(2_000) }))

/** A signer that knows two chains. */
const twoChains = (): RegistryOptions => {
  const [node, otherNode] = [nodeAt(chain.url), nodeAt(otherChain.url)]
  const ask: typeof node.ask = (question) =>
    (question.chainId === CHAINS[1] ? otherNode : node).ask(question)
  return { contracts: { ask } }
}

const benchAt = (url: string) => signerBench({ kinds: { contracts: nodeAt(url) } })

const sample = samples('evm')['smart contract']

/** Options are laid over those that the contract would allow. */
const request = ({ domain = {}, options = {} }: Variation = {}) => {
  const body = requestFor(varied(sample, { domain }))
  return { ...body, options: { ...Object(body['options']), ...options } }
}

describe.each<Conduct>(['cip40', 'celo'])('the order of answers as %s', (conduct) =>
  orderOfAnswers(sample, conduct, twoChains),
)

describe('the contract decides', () => {
  test('true is 200, and is asked for each request anew', async () => {
    const calls = () => chain.asked.filter((method) => method === 'eth_call').length
    const before = calls()
    const bench = benchAt(chain.url)
    for (let i = 0; i < 3; i++) expect((await bench.ask('sign', request())).status).toBe(200)
    expect(bench.evaluations()).toBe(3)
    expect(calls() - before).toBe(3)
  })

  const refused: Readonly<Record<string, Variation>> = {
    'false: another authorisation': { options: { authorization: '0xc0fe' } },
    'false: none, for a domain with data': { options: { authorization: '' } },
    'a call that reverts': { domain: { contractAddress: REVERTS } },
    'an answer that is neither true nor false': { domain: { contractAddress: TWO } },
    'no contract at all': { domain: { contractAddress: `0x${'44'.repeat(20)}` } },
    'another chain': { domain: { chainId: 1 } },
  }
  for (const [what, more] of Object.entries(refused)) {
    test(`401 for ${what}`, async () => {
      const bench = benchAt(chain.url)
      expect((await bench.ask('sign', request(more))).status).toBe(401)
      expect(bench.evaluations()).toBe(0)
    })
  }

  test('data of more than one word, and of none, reaches the contract as it was sent', async () => {
    for (const domainData of [defined(`0x${'ab'.repeat(77)}`), defined('0x'), none('')]) {
      const asked = request({ domain: { domainData } })
      expect((await benchAt(chain.url).ask('sign', asked)).status).toBe(200)
    }
  })

  test('an authorisation never changes the output', async () => {
    const bench = benchAt(chain.url)
    const domain = { contractAddress: EVERYBODY }
    const outputs = new Set<string | undefined>()
    for (const authorization of ['', '0x01', '0x0102']) {
      const reply = await bench.ask('sign', request({ domain, options: { authorization } }))
      expect(reply.status).toBe(200)
      outputs.add(reply.body.signature)
    }
    expect(outputs.size).toBe(1)
  })

  test('once the block has come, the check is made', async () => {
    const asked = request({ options: { notBeforeBlock: defined(50) } })
    expect((await benchAt(chain.url).ask('sign', asked)).status).toBe(503)
    chain.mine(60)
    expect((await benchAt(chain.url).ask('sign', asked)).status).toBe(200)
  })

  test('400 for what is no address and no bytes', async () => {
    const bench = benchAt(chain.url)
    for (const more of [
      { domain: { contractAddress: 'nowhere' } },
      { domain: { domainData: defined('0xabc') } },
      { options: { authorization: 'please' } },
    ]) {
      expect((await bench.ask('sign', request(more))).status).toBe(400)
    }
  })
})

test('headgate odis signer --rpc-url asks the same contract', async () => {
  const folder = temporaryFolder()
  await provideKey(folder)
  const signer = await startSigner(folder, '--workers', '1', '--rpc-url', chain.url)
  onTestFinished(() => signer.child.kill('SIGKILL'))
  const signed = await askSigner(signer, 'sign', request())
  expect(signed.status).toBe(200)
  expect(Buffer.from(signed.body.signature ?? '', 'base64')).toHaveLength(1152)
  const stranger = request({ options: { authorization: '0xc0fe' } })
  expect((await askSigner(signer, 'sign', stranger)).status).toBe(401)
})

describe('a node that is unwell allows nothing', () => {
  const answers: Readonly<Record<string, string>> = {
    'that talks no JSON': '<html>',
    'that sends more than we read': `{"result":"${'0'.repeat(100_000)}"}`,
    'that sends an error': '{"error":{"code":1}}',
    'that sends nothing': '',
  }
  for (const [what, text] of Object.entries(answers)) {
    test(what, async () => {
      const server = createServer((_, response) => response.end(text)).listen(0, '127.0.0.1')
      await new Promise((resolve) => server.once('listening', resolve))
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : undefined
      expect((await benchAt(`http://127.0.0.1:${port}`).ask('sign', request())).status).toBe(503)
      server.close()
    })
  }

  test('that is not there', async () => {
    expect((await benchAt('http://127.0.0.1:9').ask('sign', request())).status).toBe(503)
  })
})
