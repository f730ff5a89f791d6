import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { Signer } from '../../src/secrets/index.ts'

/** A signer behind real HTTP, on a port of its own. */
export const listenSigner = async (signer: Signer): Promise<{ url: string; close(): void }> => {
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '' } = request
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    )
    const answer = await signer.handle({ method, path, headers, body: await bodyOf(request) })
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server has a port')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${address.port}`, close }
}

const bodyOf = async (request: IncomingMessage): Promise<Uint8Array> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}
