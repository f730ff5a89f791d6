/**
 * Real servers for tests: started when the first test of a run asks for one, shared by all its files, and
 * ended with it. Workers ask over HTTP, for they are processes of their own.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import {
  openServices,
  type Service,
  type ServiceKind,
  type Services,
  type SkippedService,
} from '../../scripts/services.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where to ask for them. */
    services: string
  }
}

const KINDS: readonly ServiceKind[] = ['redis', 'cluster', 'tls', 'postgres', 'pgbouncer']

export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  let services: Services | undefined
  const started = new Map<ServiceKind, Promise<Service | SkippedService>>()

  const start = (kind: ServiceKind): Promise<Service | SkippedService> => {
    services ??= openServices()
    const starting = started.get(kind) ?? services.start(kind)
    started.set(kind, starting)
    return starting
  }

  const server = createServer(async ({ url }, response) => {
    const kind = KINDS.find((one) => url === `/${one}`)
    if (kind === undefined) return response.writeHead(404).end()
    try {
      return response.end(JSON.stringify(await start(kind)))
    } catch (error) {
      return response.end(JSON.stringify({ skipped: String(error) }))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  project.provide('services', `http://127.0.0.1:${portOf(server.address())}`)
  return async () => {
    server.closeAllConnections()
    server.close()
    await services?.stop()
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('a server has a port')
  return address.port
}
