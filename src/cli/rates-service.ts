/** The service of rates that a command asks: the one of the configuration here, or a server elsewhere. */
import { openHeadgate } from '../server/open-headgate.ts'
import { subjectsOff } from '../server/subjects/subjects-off.ts'
import type { Identity } from '../subjects/index.ts'
import { readReply } from './api.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Call } from './command.ts'
import { settingsFlags } from './common-flags.ts'
import { overHttp, PATIENCE_MS, readBase } from './over-http.ts'

export interface RatesService {
  readonly url: string
  readonly did: string
  /** By it the service signs its receipts. */
  readonly keyDid: string
  /** Of the service here: whoever can read its key may act by it. */
  readonly own?: Identity
  readonly fetch: typeof globalThis.fetch
  close(): Promise<void>
}

/** `--server` or HEADGATE_SERVER; without either, the store that the configuration names. */
export const openRatesService = (call: Call): Promise<RatesService> => {
  const server = call.flags.text('server') ?? call.environment['HEADGATE_SERVER']
  return server === undefined ? openHere(call) : openElsewhere(server)
}

async function openHere({ flags, environment }: Call): Promise<RatesService> {
  const headgate = await openHeadgate({ flags: settingsFlags(flags), environment })
  const { subjects, close } = headgate
  if (subjects === undefined) {
    await close()
    throw subjectsOff()
  }
  const { identity, service } = subjects
  return {
    url: 'http://localhost/ucan',
    did: identity.did,
    keyDid: identity.keyDid,
    own: identity,
    fetch: async (_, init) => {
      const body = init?.body instanceof Uint8Array ? init.body : new Uint8Array()
      const headers = Object.fromEntries(new Headers(init?.headers))
      const reply = await service.handle({ method: 'POST', headers, body })
      return new Response(Uint8Array.from(reply.body), { status: reply.status })
    },
    close,
  }
}

interface DidDocument {
  readonly id: string
  readonly verificationMethod: readonly { readonly publicKeyMultibase: string }[]
}

async function openElsewhere(server: string): Promise<RatesService> {
  const base = readBase(server)
  const reply = await overHttp(server, undefined).get('/.well-known/did.json')
  const { id, verificationMethod } = readReply<DidDocument>(reply, ['id', 'verificationMethod'])
  const key = verificationMethod[0]?.publicKeyMultibase
  if (key === undefined) {
    const rule = 'must tell the key of its UCAN service in /.well-known/did.json'
    return refuseCall({ code: 'SERVER_ANSWER_INVALID', thing: base, rule, finding: 'none' })
  }
  return {
    url: `${base}/ucan`,
    did: id,
    // A did:key is its own key, whatever the document says.
    keyDid: id.startsWith('did:key:') ? id : `did:key:${key}`,
    fetch: (url, init) => {
      const signal = AbortSignal.timeout(PATIENCE_MS)
      return globalThis.fetch(url, { ...init, signal, redirect: 'error' })
    },
    close: async () => {},
  }
}
