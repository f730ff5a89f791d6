/** `headgate delegate`, `proofs show` and `revoke`: rights over rates, handed on as a file, read and taken back. */
import type { Instant } from '../core/time.ts'
import { describeSeconds, inSeconds } from '../lib/moments.ts'
import type { DelegateOptions, InspectedProof } from '../subjects/index.ts'
import type { CliCommand, CommandCall } from './command.ts'
import {
  JSON_FLAG,
  LOCAL_FLAGS,
  momentFrom,
  pickTexts,
  readMomentFlag,
  readNumber,
  requireFlag,
} from './flags.ts'
import { fieldMoment, ratesCommand } from './rates.ts'
import { KEY_FLAG, openKey, PROOF_FLAG, readBytes, readProofFile } from './rates-client.ts'
import { table, tell } from './terminal.ts'

/** A right should not last longer than someone asked for. */
const USUAL_EXPIRY = '24h'

export const proofCommands: readonly CliCommand[] = [
  {
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
      {
        name: 'expires',
        value: 'WHEN',
        summary: 'When it ends: 7d, a date and time, or never; 24h.',
      },
      { name: 'not-before', value: 'WHEN', summary: 'When it begins: 1h, or a date and time.' },
      { name: 'provider', value: 'DID', summary: 'Whose rates; those of the proof or of the key.' },
      KEY_FLAG,
      PROOF_FLAG,
      ...LOCAL_FLAGS,
      JSON_FLAG,
    ],
    run: async (call) => {
      const { flags, terminal } = call
      const [to, can] = [requireFlag(call, 'to'), requireFlag(call, 'can')]
      const expiresAt = readExpiry(call)
      const notBefore = readMomentFlag(call, 'not-before', 'ahead')
      const terms = { to, can, caveats: readCaveats(call), expiresAt, notBefore }
      const { delegate } = await import('../subjects/index.ts')
      const right = await readRight(call)
      const { cid, bytes } = await delegate({ ...terms, ...right })
      const warnings = await missing(terms, right)
      if (flags.has('json')) {
        const car = Buffer.from(bytes).toString('base64')
        tell(call, { cid, to, can, car, ...(warnings.length > 0 && { warnings }) }, () => '')
        return 0
      }
      for (const fault of warnings) terminal.err(`warning: the proof gives no such right: ${fault}`)
      terminal.bytes(bytes)
      terminal.err(`${cid}: ${can} for ${to} ${describeExpiry(expiresAt)}`)
      return 0
    },
  },
  ratesCommand({
    name: 'revoke',
    summary: 'End a delegation before its time. Its parties may; it cannot be undone.',
    operands: [{ name: 'FILE|CID' }],
    flags: [],
    ask: async (rates, call) => {
      const { cid, proof } = await readRevoked(call)
      return rates.revoke(proof, cid)
    },
    describe: (done, { operands: [named = ''] }) =>
      `revoked ${named} at ${fieldMoment(done, 'time')}`,
  }),
  {
    name: 'proofs show',
    summary: 'What a proof allows, whom, until when, and through which delegations.',
    operands: [{ name: 'FILE' }],
    flags: [JSON_FLAG],
    run: async (call) => {
      const { inspectChain } = await import('../subjects/index.ts')
      const [file = ''] = call.operands
      const chain = await inspectChain(await readBytes('FILE', file))
      tell(call, { proofs: chain.map(shownProof) }, ({ proofs }) =>
        proofs.map((proof) => describeProof(proof, inSeconds(call.clock()))).join('\n\n'),
      )
      return chain.every(({ signature }) => signature !== 'bad') ? 0 : 2
    },
  },
]

/** A text that can only be a CID, so that a forgotten --proof is not taken for a missing file. */
const CID = /^baf[a-z2-7]{50,}$/

/** `revoke FILE` ends the delegation of the file; `revoke CID --proof FILE`, any that the file holds. */
async function readRevoked(call: CommandCall) {
  const [named = ''] = call.operands
  if (CID.test(named)) requireFlag(call, 'proof')
  const enclosed = await readProofFile(call)
  if (enclosed !== undefined) return { cid: named, proof: enclosed }
  const proof = await readBytes('FILE', named)
  const { inspectProof } = await import('../subjects/index.ts')
  return { cid: inspectProof(proof).cid, proof }
}

const shownProof = ({ token, signature }: InspectedProof) => ({
  cid: token.cid,
  fingerprint: token.fingerprint,
  issuer: token.issuer,
  audience: token.audience,
  capabilities: token.capabilities.map(({ can, with: about, nb }) => ({
    can,
    with: about,
    ...(nb !== undefined && { nb }),
  })),
  ...(token.notBefore !== undefined && { notBefore: token.notBefore }),
  ...(token.expires !== undefined && { expires: token.expires }),
  proofs: [...token.proofs],
  signature,
})

function describeProof(proof: ReturnType<typeof shownProof>, now: number): string {
  const { expires, notBefore } = proof
  const rights = proof.capabilities.map(({ can, with: about, nb }) => {
    const caveats = nb === undefined ? '' : ` only with ${JSON.stringify(nb)}`
    return ['allows', `${can} on ${about}${caveats}`]
  })
  const ended = expires !== undefined && expires <= now ? ' (it has ended)' : ''
  return table([
    ['proof', proof.cid],
    ['fingerprint', proof.fingerprint],
    ['from', proof.issuer],
    ['to', proof.audience],
    ...rights,
    ...(notBefore === undefined ? [] : [['begins', describeSeconds(notBefore)]]),
    ['ends', expires === undefined ? 'never' : `${describeSeconds(expires)}${ended}`],
    ...proof.proofs.map((cid) => ['by right of', cid]),
    ['signature', proof.signature],
  ])
}

type Right = Pick<DelegateOptions, 'from' | 'provider' | 'proofs'>

/** What a service would refuse later is told while it can still be mended. */
async function missing(
  { can, caveats, expiresAt }: Pick<DelegateOptions, 'can' | 'caveats' | 'expiresAt'>,
  { from, provider = from.did, proofs = [] }: Right,
): Promise<readonly string[]> {
  const { missingRights } = await import('../subjects/index.ts')
  const handed = { from: from.did, can, provider, caveats: caveats ?? {}, expiresAt }
  return proofs.flatMap((proof) => missingRights(proof, handed))
}

/** By whose key, over whose rates, and by what right. */
async function readRight(call: CommandCall): Promise<Right> {
  const { inspectProof, parseIdentity } = await import('../subjects/index.ts')
  const from = await openKey(call)
  const proof = await readProofFile(call)
  const about = proof === undefined ? undefined : inspectProof(proof).capabilities[0]?.with
  const provider = call.flags.text('provider') ?? about ?? from.did
  if (proof !== undefined) return { from, provider, proofs: [proof] }
  // Without a proof the right can only be the service's own, so its key acts under its name.
  const isNamed = provider.startsWith('did:web:')
  return { from: isNamed ? parseIdentity(from.secret, provider) : from, provider }
}

function readCaveats({ flags }: CommandCall): Readonly<Record<string, unknown>> {
  const rate = flags.text('rate')
  return {
    ...pickTexts(flags, ['subject', 'label', 'id']),
    ...(rate !== undefined && { rate: readNumber(rate, '--rate') }),
  }
}

function readExpiry(call: CommandCall): Instant | 'never' {
  const text = call.flags.text('expires') ?? USUAL_EXPIRY
  return text === 'never' ? 'never' : momentFrom(call, text, '--expires', 'ahead')
}

const describeExpiry = (point: Instant | 'never'): string =>
  point === 'never' ? 'for ever' : `until ${describeSeconds(inSeconds(point))}`
