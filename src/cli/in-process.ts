/** The API without a server: this process opens the store itself. Several may share a SQLite file. */
import { createHttpServer } from '../server/http/server.ts'
import { createLogger } from '../server/logger.ts'
import { openHeadgate } from '../server/open-headgate.ts'
import type { Environment } from '../server/options.ts'
import { settingsFlags } from './common-flags.ts'
import type { FlagValues } from './flag-values.ts'
import type { Wire } from './gate.ts'
import { readStream } from './read-stream.ts'

export const inProcess = async (flags: FlagValues, environment: Environment): Promise<Wire> => {
  const headgate = await openHeadgate({ flags: settingsFlags(flags), environment })
  const logger = createLogger('silent')
  // Tokens keep out who comes over the network. Whoever can open the file needs none.
  const server = createHttpServer({ ...headgate, tokens: () => [] }, { logger })
  const headers = { host: 'localhost' }
  return {
    get: async (url) => {
      const { statusCode, body } = await server.inject({ method: 'GET', url, headers })
      return { status: statusCode, text: body }
    },
    post: async (url, payload) => {
      const { statusCode, body } = await server.inject({ method: 'POST', url, headers, payload })
      return { status: statusCode, text: body }
    },
    stream: async (url, write) => {
      const answer = await server.inject({ method: 'GET', url, headers, payloadAsStream: true })
      return readStream(answer.statusCode, answer.stream(), write)
    },
    close: async () => {
      await server.close()
      await headgate.close()
    },
  }
}
