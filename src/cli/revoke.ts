/** `headgate revoke`: end a delegation before its time, for good. */
import { momentOf } from './rate-rows.ts'
import { ratesCommand } from './rates-command.ts'
import { requireFlag } from './require-flag.ts'
import { readProofFile } from './ucan-key.ts'

export const revoke = ratesCommand({
  name: 'revoke',
  summary: 'End a delegation before its time. Its parties may; nobody can undo it.',
  operands: [{ name: 'CID' }],
  flags: [],
  ask: async (rates, call) => {
    const [cid = ''] = call.operands
    requireFlag(call, 'proof')
    const proof = (await readProofFile(call)) ?? new Uint8Array()
    return rates.revoke(proof, cid)
  },
  describe: (done, { operands: [cid = ''] }) => `revoked ${cid} at ${momentOf(done, 'time')}`,
})
