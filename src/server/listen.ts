/** Opens the port, and says in our words why it cannot be opened. */
import { urlHost } from './addressing.ts'
import { refuseConfig } from './config-mistake.ts'
import type { Settings } from './settings.ts'

/** The part of an HTTP server that this needs. */
export interface Listener {
  listen(address: { readonly host: string; readonly port: number }): Promise<string>
  addresses(): readonly (string | { readonly port: number })[]
}

/** Answers the URL at which the server now listens; with port 0, the port that the system chose. */
export const listen = async (
  server: Listener,
  settings: Pick<Settings, 'host' | 'port'>,
): Promise<string> => {
  const { host, port } = settings
  try {
    await server.listen({ host, port })
  } catch (error) {
    refuseListening(error, host, port)
  }
  const [bound] = server.addresses()
  return `http://${urlHost(host)}:${typeof bound === 'object' ? bound.port : port}`
}

function refuseListening(error: unknown, host: string, port: number): never {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) throw error
  switch (error.code) {
    case 'EADDRINUSE': {
      const rule = 'must be free; stop the other server or choose another --port'
      const finding = 'another program listening there'
      const thing = `port ${port} of ${host}`
      return refuseConfig({ code: 'LISTEN_PORT_IN_USE', thing, rule, finding }, error)
    }
    case 'EACCES': {
      const rule = 'must be one that this user may open; those below 1024 often are not'
      const finding = 'permission denied'
      return refuseConfig({ code: 'LISTEN_DENIED', thing: `port ${port}`, rule, finding }, error)
    }
    default: {
      const rule = 'must be an address of this machine'
      const finding = error.message
      return refuseConfig({ code: 'LISTEN_FAILED', thing: `host ${host}`, rule, finding }, error)
    }
  }
}
