/** A chain of one node: the EthereumJS virtual machine behind JSON-RPC over HTTP. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Common, Mainnet } from '@ethereumjs/common'
import { createEVM } from '@ethereumjs/evm'
import { bytesToHex, createAddressFromString, hexToBytes } from '@ethereumjs/util'

export const startChain = async ({ chainId }) => {
  const evm = await createEVM({ common: new Common({ chain: Mainnet }) })
  let head = 1
  const asked = []

  const call = async ({ to, data }) => {
    const { execResult } = await evm.runCall({
      to: createAddressFromString(to),
      data: hexToBytes(data),
      gasLimit: 1_000_000n,
      isStatic: true,
    })
    if (execResult.exceptionError !== undefined) throw new Error(execResult.exceptionError.error)
    return bytesToHex(execResult.returnValue)
  }

  const methods = {
    eth_chainId: () => `0x${chainId.toString(16)}`,
    eth_blockNumber: () => `0x${head.toString(16)}`,
    eth_call: ([transaction, block]) => {
      if (Number(block) > head) throw new Error('header not found')
      return call(transaction)
    },
  }

  const answer = async ({ id, method, params }) => {
    asked.push(method)
    try {
      return { jsonrpc: '2.0', id, result: await methods[method](params) }
    } catch (error) {
      return { jsonrpc: '2.0', id, error: { code: 3, message: error.message } }
    }
  }

  const server = createServer(async (request, response) => {
    const parts = []
    for await (const part of request) parts.push(part)
    const body = await answer(JSON.parse(Buffer.concat(parts).toString('utf8')))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    asked,
    deploy: (address, code) =>
      evm.stateManager.putCode(createAddressFromString(address), hexToBytes(code)),
    mine: (blocks) => {
      head += blocks
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
