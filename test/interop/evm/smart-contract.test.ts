/** The smart contract domain against a real Ethereum virtual machine. */
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { millis } from '../../../src/core/index.ts'
import { accessController, domainRegistry, jsonRpc } from '../../../src/secrets/index.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { askSigner, provideKey, startSigner } from '../../support/odis-process.ts'
import { blindedMessage, defined, none } from '../../support/odis-requests.ts'
import { signerBench } from '../../support/odis-signer.ts'
import type { Chain } from './chain.js'

let chain: Chain

beforeAll(async () => {
  const install = fileURLToPath(new URL('../install.js', import.meta.url))
  execFileSync(process.execPath, [install, 'evm'], { stdio: 'inherit' })
  const { startChain } = await import('./chain.js')
  chain = await startChain({ chainId: 44_787 })
  await chain.deploy(EQUALS, EQUALS_CODE)
  await chain.deploy(TWO, RETURNS_TWO)
  await chain.deploy(REVERTS, '0x60006000fd')
}, 300_000)
afterAll(() => chain.close())

const EQUALS = `0x${'e1'.repeat(20)}`
const TWO = `0x${'22'.repeat(20)}`
const REVERTS = `0x${'33'.repeat(20)}`
const RETURNS_TWO = '0x600260005260206000f3'

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

const request = (more: { domain?: object; options?: object } = {}) => ({
  domain: {
    name: 'ODIS Smart Contract Domain',
    version: '1',
    contractAddress: EQUALS,
    chainId: 44_787,
    domainData: defined('0xc0ffee'),
    ...more.domain,
  },
  options: { notBeforeBlock: none(0), authorization: '0xc0ffee', ...more.options },
  blindedMessage,
  sessionID: none(''),
})

const benchAt = (url: string) => {
  const contracts = accessController(jsonRpc({ url, timeout: millis(2_000) }))
  return signerBench({ registry: domainRegistry({ contracts }) })
}

describe('the contract decides', () => {
  test('true is 200, and is asked for each request anew', async () => {
    const bench = benchAt(chain.url)
    for (let i = 0; i < 3; i++) expect((await bench.ask('sign', request())).status).toBe(200)
    expect(bench.evaluations()).toBe(3)
    expect(chain.asked.filter((method) => method === 'eth_call')).toHaveLength(3)
  })

  const refused: Readonly<Record<string, { domain?: object; options?: object }>> = {
    'false: another authorisation': { options: { authorization: '0xc0fe' } },
    'false: none, for a domain with data': { options: { authorization: '' } },
    'a call that reverts': { domain: { contractAddress: REVERTS } },
    'an answer that is neither true nor false': { domain: { contractAddress: TWO } },
    'no contract at all': { domain: { contractAddress: `0x${'44'.repeat(20)}` } },
    'another chain': { domain: { chainId: 1 } },
    'a block that has not come yet': { options: { notBeforeBlock: defined(1_000) } },
  }
  for (const [what, more] of Object.entries(refused)) {
    test(`401 for ${what}`, async () => {
      const bench = benchAt(chain.url)
      expect((await bench.ask('sign', request(more))).status).toBe(401)
      expect(bench.evaluations()).toBe(0)
    })
  }

  test('data of more than one word, and of none, reaches the contract as it was sent', async () => {
    const long = `0x${'ab'.repeat(77)}`
    for (const data of [long, '0x']) {
      const more = { domain: { domainData: defined(data) }, options: { authorization: data } }
      expect((await benchAt(chain.url).ask('sign', request(more))).status).toBe(200)
    }
    const bare = { domain: { domainData: none('') }, options: { authorization: '' } }
    expect((await benchAt(chain.url).ask('sign', request(bare))).status).toBe(200)
  })

  test('once the block has come, the check is made', async () => {
    const asked = request({ options: { notBeforeBlock: defined(50) } })
    expect((await benchAt(chain.url).ask('sign', asked)).status).toBe(401)
    chain.mine(60)
    expect((await benchAt(chain.url).ask('sign', asked)).status).toBe(200)
  })

  test('400 for what is no address and no bytes, 404 for the endpoints it does not have', async () => {
    const bench = benchAt(chain.url)
    for (const more of [
      { domain: { contractAddress: 'nowhere' } },
      { domain: { domainData: defined('0xabc') } },
      { options: { authorization: 'please' } },
    ]) {
      expect((await bench.ask('sign', request(more))).status).toBe(400)
    }
    for (const endpoint of ['quotaStatus', 'disable'] as const) {
      expect((await bench.ask(endpoint, request())).status).toBe(404)
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
      expect((await benchAt(`http://127.0.0.1:${port}`).ask('sign', request())).status).toBe(401)
      server.close()
    })
  }

  test('that is not there', async () => {
    expect((await benchAt('http://127.0.0.1:9').ask('sign', request())).status).toBe(401)
  })
})
