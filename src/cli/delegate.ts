/** `headgate delegate`: hand on a right over rates, narrowed and for a time, as a file. Offline. */
import type { Instant } from '../core/index.ts'
import type { DelegateOptions } from '../subjects/index.ts'
import type { Call, Command } from './command.ts'
import { JSON_FLAG, LOCAL_FLAGS } from './common-flags.ts'
import { describeSeconds, inSeconds, parseMoment, readMoment } from './moments.ts'
import { readNumber } from './rate-draft.ts'
import { requireFlag } from './require-flag.ts'
import { writeJson } from './terminal.ts'
import { KEY_FLAG, PROOF_FLAG, readProofFile } from './ucan-key.ts'

/** A right that nobody asked to last should not. */
const USUAL_EXPIRY = '24h'

export const delegate: Command = {
  name: 'delegate',
  summary: 'Hand on a right over rates, narrowed and for a time. Writes the proof, a CAR.',
  operands: [],
  flags: [
    { name: 'to', value: 'DID', summary: 'Who may use it.' },
    { name: 'can', value: 'ABILITY', summary: 'rate-limit/add, rate-limit/* and so on.' },
    { name: 'subject', value: 'SUBJECT', summary: 'Only for this subject.' },
    { name: 'rate', value: 'RATE', summary: 'Only with this rate.' },
    { name: 'label', value: 'LABEL', summary: 'Only under this label.' },
    { name: 'id', value: 'ID', summary: 'Only for the rate of this id.' },
    { name: 'expires', value: 'WHEN', summary: 'Until then: 7d, a date and time, or never; 24h.' },
    { name: 'not-before', value: 'WHEN', summary: 'From then on: 1h, or a date and time.' },
    { name: 'provider', value: 'DID', summary: 'Whose rates; of the proof, or of the key itself.' },
    KEY_FLAG,
    PROOF_FLAG,
    ...LOCAL_FLAGS,
    JSON_FLAG,
  ],
  run: async (call) => {
    const { flags, terminal } = call
    const [to, can] = [requireFlag(call, 'to'), requireFlag(call, 'can')]
    const expiresAt = readExpiry(flags.text('expires') ?? USUAL_EXPIRY)
    const notBefore = readMoment(flags, 'not-before', 'ahead')
    const door = await import('../subjects/index.ts')
    const terms = { to, can, caveats: readCaveats(call), expiresAt, notBefore }
    const { cid, bytes } = await door.delegate({ ...terms, ...(await readRight(call)) })
    if (flags.has('json')) {
      writeJson(terminal, { cid, to, can, car: Buffer.from(bytes).toString('base64') })
      return 0
    }
    terminal.bytes(bytes)
    terminal.err(`${cid}: ${can} for ${to} ${describeExpiry(expiresAt)}`)
    return 0
  },
}

/** By whose key, over whose rates, and by what right. */
async function readRight(
  call: Call,
): Promise<Pick<DelegateOptions, 'from' | 'provider' | 'proofs'>> {
  const { inspectProof, parseIdentity } = await import('../subjects/index.ts')
  const { openKey } = await import('./open-key.ts')
  const from = await openKey(call)
  const proof = await readProofFile(call)
  const about = proof === undefined ? undefined : inspectProof(proof).capabilities[0]?.with
  const provider = call.flags.text('provider') ?? about ?? from.did
  if (proof !== undefined) return { from, provider, proofs: [proof] }
  // Without a proof the right can only be the service's own, and so its key goes by its name.
  const isNamed = provider.startsWith('did:web:')
  return { from: isNamed ? parseIdentity(from.secret, provider) : from, provider }
}

function readCaveats({ flags }: Call): Readonly<Record<string, unknown>> {
  const texts = ['subject', 'label', 'id'].flatMap((name) => {
    const text = flags.text(name)
    return text === undefined ? [] : [[name, text]]
  })
  const rate = flags.text('rate')
  return {
    ...Object.fromEntries(texts),
    ...(rate !== undefined && { rate: readNumber(rate, '--rate') }),
  }
}

const readExpiry = (text: string): Instant | 'never' =>
  text === 'never' ? 'never' : parseMoment(text, '--expires', 'ahead')

const describeExpiry = (point: Instant | 'never'): string =>
  point === 'never' ? 'for ever' : `until ${describeSeconds(inSeconds(point))}`
