import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { UcanService } from '../../src/subjects/index.ts'

/** A UCAN service behind real HTTP, on a port of its own. */
export const listen = async (service: UcanService): Promise<{ url: string; close(): void }> => {
  const server = createServer(async (request, response) => {
    const { method = '', headers } = request
    const answer = await service.handle({ method, headers, body: await bodyOf(request) })
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server has a port')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${address.port}/ucan`, close }
}

const bodyOf = async (request: IncomingMessage): Promise<Uint8Array> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  return Buffer.concat(parts)
}
