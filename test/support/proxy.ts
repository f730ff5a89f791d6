/** The network between a store and its server, in the hands of a test. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface Proxy {
  readonly port: number
  /**
   * `break`: what `isCommit` knows is cut off before it arrives. `lose`: it arrives, and its reply is cut
   * off. `mute`: nothing arrives any more, and nobody is told. `lost`: so for every connection that there
   * is, while new ones pass: the machine behind a name is gone, and another has taken its place.
   */
  mode: 'pass' | 'break' | 'lose' | 'mute' | 'lost'
  /** How long replies take on their way back. */
  delayMs: number
  /** Every connection ends at once. */
  cut(): void
  close(): Promise<void>
}

interface ProxyOptions {
  readonly port: number
  /** Whether a request is to commit something. */
  readonly isCommit: (request: Buffer) => boolean
  /** Whether a reply says that nothing was done, and so is passed on all the same. */
  readonly isRetry?: (reply: Buffer) => boolean
}

export const openProxy = async (options: ProxyOptions): Promise<Proxy> => {
  const { isCommit, isRetry = () => false } = options
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(options.port, '127.0.0.1')
    let losing = false
    const isNew = proxy.mode === 'lost'
    const isMute = () => proxy.mode === 'mute' || (proxy.mode === 'lost' && !isNew)
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end)
      socket.on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on('data', (chunk) => {
      if (isMute()) return
      const commits = isCommit(chunk)
      if (commits && proxy.mode === 'break') {
        end()
        return
      }
      losing = commits && proxy.mode === 'lose'
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (isMute()) return
      if (losing && !isRetry(chunk)) end()
      else if (proxy.delayMs === 0) client.write(chunk)
      else setTimeout(() => client.destroyed || client.write(chunk), proxy.delayMs)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a server has a port')
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const proxy: Proxy = {
    port: address.port,
    mode: 'pass',
    delayMs: 0,
    cut,
    close: async () => {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
