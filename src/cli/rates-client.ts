/**
 * By which key and which right a command acts on rates, and which service it asks: the one of the
 * configuration here, or a server elsewhere.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { checkSecretFile } from '../documents/secret-file.ts'
import { UCAN_KEY_VARIABLE } from '../server/api.ts'
import type { Identity, RatesClient } from '../subjects/index.ts'
import { fetchDocument, optionsOf, patientFetch, readBase, serverOf } from './api.ts'
import { type CommandCall, type FlagSpec, refuseCall } from './command.ts'
import { warnOfSharedSecret } from './terminal.ts'

export const KEY_FLAG: FlagSpec = {
  name: 'key',
  value: 'FILE',
  summary: `The key to act by; else ${UCAN_KEY_VARIABLE}, else the key of the server here.`,
}

export const PROOF_FLAG: FlagSpec = {
  name: 'proof',
  value: 'FILE',
  summary: 'The right to it, as `headgate delegate` made it.',
}

export const withRates = async <T>(
  call: CommandCall,
  use: (rates: RatesClient) => Promise<T>,
): Promise<T> => {
  const server = serverOf(call)
  const proof = await readProofFile(call)
  const secret = await readSecret(call)
  // Only now: UCAN and a store take longer to load than most commands take in all.
  const { createRatesClient } = await import('../subjects/index.ts')
  const service = server === undefined ? await openHere(call) : await findElsewhere(server)
  try {
    if (proof !== undefined) await checkProof(proof, service)
    const { url, fetch, did: provider, keyDid: serviceKey } = service
    const key = await identityFor(secret, service)
    const proofs = proof === undefined ? [] : [proof]
    return await use(createRatesClient({ url, fetch, provider, serviceKey, key, proofs }))
  } finally {
    await service.close()
  }
}

/**
 * The key that an offline command acts by: the one named, or that of the server here. That one is made
 * if there is none yet, as the first start of the server would.
 */
export const openKey = async (call: CommandCall): Promise<Identity> => {
  if (call.flags.has('key')) {
    const { parseIdentity } = await import('../subjects/index.ts')
    return parseIdentity((await readSecret(call)) ?? '')
  }
  const { openOwnIdentity } = await import('../server/local.ts')
  return openOwnIdentity(optionsOf(call))
}

export const readProofFile = async ({ flags }: CommandCall): Promise<Uint8Array | undefined> => {
  const file = flags.text('proof')
  return file === undefined ? undefined : readBytes('--proof', file)
}

/**
 * As text; undefined if none is named. A file wins over the environment; one that all can read is
 * refused, and one that a group can read brings a warning.
 */
async function readSecret(call: CommandCall): Promise<string | undefined> {
  const path = call.flags.text('key')
  if (path === undefined) return call.environment[UCAN_KEY_VARIABLE]
  const check = async (file: FileHandle) =>
    checkSecretFile(path, await file.stat(), warnOfSharedSecret(call.terminal))
  return (await readBytes('--key', path, check)).toString('utf8')
}

/** A proof of many delegations has some 10 kB; what is larger is another file. */
const MAX_FILE_BYTES = 1_048_576

export const readBytes = async (
  thing: string,
  path: string,
  check: (file: FileHandle) => Promise<void> = async () => {},
): Promise<Buffer> => {
  const unreadable = (finding: string, cause?: unknown): never => {
    const rule = `must name a file of at most ${MAX_FILE_BYTES} bytes`
    return refuseCall({ code: 'FILE_UNREADABLE', thing, rule, finding }, cause)
  }
  const failed = (error: Error): never => unreadable(error.message, error)
  const file = await open(path, 'r').catch(failed)
  try {
    await check(file)
    const bytes = await file.readFile().catch(failed)
    return bytes.length <= MAX_FILE_BYTES ? bytes : unreadable(`${bytes.length} bytes`)
  } finally {
    await file.close()
  }
}

interface RatesService {
  readonly url: string
  readonly did: string
  /** By it the service signs its receipts. */
  readonly keyDid: string
  /** Of the service here: who can read its key may act by it. */
  readonly own?: Identity
  readonly fetch: typeof globalThis.fetch
  close(): Promise<void>
}

async function openHere(call: CommandCall): Promise<RatesService> {
  const { openSubjectsHere } = await import('../server/local.ts')
  const { fetchFrom } = await import('../subjects/index.ts')
  const { identity, service, close } = await openSubjectsHere(optionsOf(call))
  return {
    url: 'http://localhost/ucan',
    did: identity.did,
    keyDid: identity.keyDid,
    own: identity,
    fetch: fetchFrom(service),
    close,
  }
}

async function findElsewhere(server: string): Promise<RatesService> {
  const base = readBase(server)
  const { id, key } = readDidDocument(await fetchDocument(server, '/.well-known/did.json'))
  if (id === undefined || key === undefined) {
    const rule = 'must tell the key of its UCAN service in /.well-known/did.json'
    return refuseCall({ code: 'SERVER_ANSWER_INVALID', thing: base, rule, finding: 'none' })
  }
  return {
    url: `${base}/ucan`,
    did: id,
    // A did:key is its own key, whatever the document says.
    keyDid: id.startsWith('did:key:') ? id : `did:key:${key}`,
    fetch: patientFetch,
    close: async () => {},
  }
}

function readDidDocument(document: object) {
  const { id, verificationMethod: methods }: Partial<Record<string, unknown>> = { ...document }
  const [method]: unknown[] = Array.isArray(methods) ? methods : []
  const { publicKeyMultibase: key }: Partial<Record<string, unknown>> = Object(method)
  return {
    id: typeof id === 'string' ? id : undefined,
    key: typeof key === 'string' ? key : undefined,
  }
}

async function identityFor(
  secret: string | undefined,
  { did, keyDid, own }: RatesService,
): Promise<Identity> {
  if (secret === undefined) return own ?? refuseNoKey()
  const { parseIdentity } = await import('../subjects/index.ts')
  const identity = parseIdentity(secret)
  // The service's own key acts under the service's own name.
  return identity.keyDid === keyDid && did !== keyDid ? parseIdentity(secret, did) : identity
}

function refuseNoKey(): never {
  const rule = 'or HEADGATE_UCAN_KEY must tell the key to act by'
  return refuseCall({ code: 'FLAG_VALUE_MISSING', thing: '--key', rule, finding: 'neither' })
}

/** A proof for another service would only be refused, in words that help less. */
async function checkProof(proof: Uint8Array, { did }: RatesService): Promise<void> {
  const { inspectProof } = await import('../subjects/index.ts')
  const about = inspectProof(proof).capabilities[0]?.with
  if (about === did) return
  const rule = `must be about the service that is asked, ${did}`
  refuseCall({ code: 'FLAG_VALUE_INVALID', thing: '--proof', rule, finding: about ?? 'nothing' })
}
