/** `headgate plans diff`: what a file of plans would change, before it does. */
import { readFile } from 'node:fs/promises'
import { refuseCall } from './cli-mistake.ts'
import type { Command } from './command.ts'
import { PLANS_FLAGS, postBody, tell } from './plans-api.ts'

interface DiffBody {
  readonly changes: boolean
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly updated: readonly string[]
  readonly linksAdded: readonly LinkBody[]
  readonly linksRemoved: readonly LinkBody[]
}

interface LinkBody {
  readonly link: string
  readonly planId: string
}

export const plansDiff: Command = {
  name: 'plans diff',
  summary: 'What a file of plans would change in those in force. Changes nothing.',
  operands: [{ name: 'FILE' }],
  flags: PLANS_FLAGS,
  run: async (call) => {
    const [file = ''] = call.operands
    const text = await read(file)
    const ask = { text, name: file }
    tell(
      call,
      await postBody<DiffBody>(call, '/v1/spending/diff', ask, ['added', 'changes']),
      describe,
    )
    return 0
  },
}

const describe = ({ changes, ...diff }: DiffBody): string =>
  changes
    ? [
        ...diff.added.map((id) => `+ plan ${id}`),
        ...diff.removed.map((id) => `- plan ${id}`),
        ...diff.updated.map((id) => `~ plan ${id}`),
        ...diff.linksAdded.map(({ link, planId }) => `+ ${link} in ${planId}`),
        ...diff.linksRemoved.map(({ link, planId }) => `- ${link} in ${planId}`),
      ].join('\n')
    : 'nothing would change'

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    const finding = cause instanceof Error ? cause.message : String(cause)
    const rule = 'must be a file that can be read'
    return refuseCall({ code: 'FILE_UNREADABLE', thing: file, rule, finding }, cause)
  }
}
