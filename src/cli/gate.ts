/** Where the questions of a command go: to the store itself, or to a server. Both speak the HTTP API. */
import type { LimiterVerb, Request } from '../requests/index.ts'
import { refuseUnknownVariables } from '../server/options.ts'
import {
  type AnswerBody,
  type LimitBody,
  type LimitsPage,
  type Reply,
  readReply,
  type StandingBody,
} from './api.ts'
import type { Call } from './command.ts'
import { overHttp } from './over-http.ts'

export interface Gate {
  ask(verb: LimiterVerb, request: Request): Promise<AnswerBody>
  limits(): Promise<readonly LimitBody[]>
  limit(name: string): Promise<LimitBody>
  /** The limit in force for one id, and what is left of it. Charges nothing. */
  standing(name: string, id: string): Promise<StandingBody>
}

/** One way to put a request to the API. */
export interface Wire {
  /** `patient` for what reads the whole ledger. */
  get(path: string, patient?: 'patient'): Promise<Reply>
  post(path: string, body: object): Promise<Reply>
  /** Writes the body as it comes, if it is one; the text of any other answer is in the reply. */
  stream(path: string, write: (data: Uint8Array) => void): Promise<Reply>
  close(): Promise<void>
}

/** `--server` or HEADGATE_SERVER; without either, the store that the configuration names. */
export const withGate = <T>(call: Call, use: (gate: Gate) => Promise<T>): Promise<T> =>
  withWire(call, (wire) => use(gateOver(wire)))

export const withWire = async <T>(call: Call, use: (wire: Wire) => Promise<T>): Promise<T> => {
  const { flags, environment } = call
  refuseUnknownVariables(environment)
  const server = flags.text('server') ?? environment['HEADGATE_SERVER']
  const token = flags.text('token') ?? environment['HEADGATE_TOKEN']
  const wire = server === undefined ? await openInProcess(call) : overHttp(server, token)
  try {
    return await use(wire)
  } finally {
    await wire.close()
  }
}

/** Loaded only here: whoever asks a server needs no database. */
async function openInProcess({ flags, environment }: Call): Promise<Wire> {
  const { inProcess } = await import('./in-process.ts')
  return inProcess(flags, environment)
}

function gateOver(wire: Wire): Gate {
  const path = (...segments: readonly string[]) =>
    ['/v1/limits', ...segments.map(encodeURIComponent)].join('/')

  return {
    ask: async (verb, request) =>
      readReply<AnswerBody>(await wire.post(`/v1/${verb}`, request), ['allowed', 'charges']),
    limits: async () => {
      const all: LimitBody[] = []
      let after: string | undefined = ''
      while (after !== undefined) {
        const query: string = after === '' ? '' : `?after=${encodeURIComponent(after)}`
        const page: LimitsPage = readReply(await wire.get(`${path()}${query}`), ['limits'])
        all.push(...page.limits)
        after = page.next
      }
      return all
    },
    limit: async (name) => readReply<LimitBody>(await wire.get(path(name)), ['name', 'idFormat']),
    standing: async (name, id) =>
      readReply<StandingBody>(await wire.get(path(name, id)), ['limit', 'remaining']),
  }
}
