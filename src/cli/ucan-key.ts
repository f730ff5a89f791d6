/** By which key a command acts, and the proof of its right: from files, or from the environment. */
import { type FileHandle, open } from 'node:fs/promises'
import { checkSecretFile } from '../documents/secret-file.ts'
import { UCAN_KEY_VARIABLE } from '../server/subjects/subject-settings.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Call, Flag } from './command.ts'
import { tellShared } from './secret-warnings.ts'

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

/**
 * As text; undefined if nobody named one. A file wins over the environment; one that all can read
 * is refused, and one that a group can read is told.
 */
export const readSecret = async (call: Call): Promise<string | undefined> => {
  const path = call.flags.text('key')
  if (path === undefined) return call.environment[UCAN_KEY_VARIABLE]
  const check = async (file: FileHandle) =>
    checkSecretFile(path, await file.stat(), tellShared(call.terminal))
  return (await readBytes('--key', path, check)).toString('utf8')
}

export const readProofFile = async ({ flags }: Call): Promise<Uint8Array | undefined> => {
  const file = flags.text('proof')
  return file === undefined ? undefined : readBytes('--proof', file)
}

/** A proof of many delegations has some 10 kB; whatever is larger is another file. */
const MAX_FILE_BYTES = 1_048_576

async function readBytes(
  thing: string,
  path: string,
  check: (file: FileHandle) => Promise<void> = async () => {},
): Promise<Buffer> {
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
