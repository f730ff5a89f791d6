/** By which key a command acts, and the proof of its right: from files, or from the environment. */
import { readFile } from 'node:fs/promises'
import { UCAN_KEY_VARIABLE } from '../server/subjects/subject-settings.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Call, Flag } from './command.ts'

export const KEY_FLAG: Flag = {
  name: 'key',
  value: 'FILE',
  summary: `The key to act by; else ${UCAN_KEY_VARIABLE}, else the key of the server here.`,
}

export const PROOF_FLAG: Flag = {
  name: 'proof',
  value: 'FILE',
  summary: 'The right to it, as `headgate delegate` made it.',
}

/** As text; undefined if nobody named one. A file wins over the environment. */
export const readSecret = async ({ flags, environment }: Call): Promise<string | undefined> => {
  const file = flags.text('key')
  if (file === undefined) return environment[UCAN_KEY_VARIABLE]
  return (await readBytes('--key', file)).toString('utf8')
}

export const readProofFile = async ({ flags }: Call): Promise<Uint8Array | undefined> => {
  const file = flags.text('proof')
  return file === undefined ? undefined : readBytes('--proof', file)
}

/** A proof of many delegations has some 10 kB; whatever is larger is another file. */
const MAX_FILE_BYTES = 1_048_576

async function readBytes(thing: string, file: string): Promise<Buffer> {
  const unreadable = (finding: string, cause?: unknown): never => {
    const rule = `must name a file of at most ${MAX_FILE_BYTES} bytes`
    return refuseCall({ code: 'FILE_UNREADABLE', thing, rule, finding }, cause)
  }
  const bytes = await readFile(file).catch((error: Error) => unreadable(error.message, error))
  return bytes.length <= MAX_FILE_BYTES ? bytes : unreadable(`${bytes.length} bytes`)
}
