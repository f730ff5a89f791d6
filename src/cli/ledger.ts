/** `headgate ledger …`: the books, verified and exported. */
import { open } from 'node:fs/promises'
import type { ApiOutput } from '../server/api.ts'
import type { Anchor, ExportVerification } from '../spending/index.ts'
import { withSpending } from './api.ts'
import { type CliCommand, type CommandCall, refuseCall } from './command.ts'
import { ASKING_FLAGS, readWord, refuseValue } from './flags.ts'
import { tell } from './terminal.ts'

export const ledgerCommands: readonly CliCommand[] = [
  {
    name: 'ledger verify',
    onlyLooks: true,
    summary: 'Walk the chain and recompute every account from it; exit 1 if anything differs.',
    operands: [],
    flags: [
      { name: 'export', value: 'FILE', summary: 'An export in JSON Lines, instead of the store.' },
      { name: 'anchor', value: 'ANCHOR', summary: 'A head that was kept: NUMBER:HASH, or HASH.' },
      ...ASKING_FLAGS,
    ],
    run: async (call) => {
      const file = call.flags.text('export')
      const anchor = call.flags.text('anchor')
      const parsed = await readAnchorFlag(anchor)
      if (file !== undefined) return verifyFile(call, file, parsed)
      const ask = anchor === undefined ? {} : { anchor }
      const found = await withSpending(call, (api) => api.ask('verifySpending', ask))
      tell(call, found, describeVerification)
      return found.agrees ? 0 : 1
    },
  },
  {
    name: 'ledger export',
    onlyLooks: true,
    summary: 'The ledger on standard output, with the hashes of its chain.',
    operands: [],
    flags: [{ name: 'format', value: 'FORMAT', summary: 'jsonl or csv; jsonl.' }, ...ASKING_FLAGS],
    run: async (call) => {
      const format = readWord(call.flags.text('format') ?? 'jsonl', '--format', FORMATS)
      await withSpending(call, async (api) => {
        const lines = await api.ask('exportLedger', { format })
        for await (const data of lines) call.terminal.bytes(Buffer.from(data))
      })
      return 0
    },
  },
]

const FORMATS = ['jsonl', 'csv'] as const

async function readAnchorFlag(text: string | undefined): Promise<Anchor | undefined> {
  if (text === undefined) return undefined
  const { parseAnchor } = await import('../spending/index.ts')
  return (
    parseAnchor(text) ??
    refuseValue('--anchor', 'must be NUMBER:HASH as a server tells it, or HASH', text)
  )
}

async function verifyFile(
  call: CommandCall,
  name: string,
  anchor: Anchor | undefined,
): Promise<0 | 1> {
  const { verifyExport } = await import('../spending/index.ts')
  const file = await open(name).catch((cause: unknown) => {
    const finding = cause instanceof Error ? cause.message : String(cause)
    const rule = 'must be a file that can be read'
    return refuseCall({ code: 'FILE_UNREADABLE', thing: name, rule, finding }, cause)
  })
  try {
    const found = await verifyExport(file.readLines(), anchor)
    const agrees = found.findings.length === 0
    tell(call, { agrees, ...found }, () => describeExport(found))
    return agrees ? 0 : 1
  } finally {
    await file.close()
  }
}

type Verified = ApiOutput<'verifySpending'>

function describeVerification(found: Verified): string {
  const { agrees, entries, accounts, findings } = found
  return [
    ...findings.map(describeFinding),
    ...describeChain(found),
    `${entries} ledger entries, ${accounts} accounts: ${agrees ? 'they agree' : 'they differ'}`,
  ].join('\n')
}

function describeFinding({ kind, what, window, ledger, kept }: Verified['findings'][number]) {
  const where = window === undefined ? what : `${what} in the window of ${window}`
  return `${kind}: ${where}: ${ledger} by the ledger, kept is ${kept}`
}

function describeExport(found: ExportVerification): string {
  const { entries, findings } = found
  return [
    ...findings.map(({ kind, line, what }) => `${kind}: line ${line}: ${what}`),
    ...describeChain(found),
    `${entries} exported entries: ${findings.length === 0 ? 'the chain holds' : 'the chain does not hold'}`,
  ].join('\n')
}

interface Chain {
  readonly compactedThrough: number
  readonly head: { readonly number: number; readonly hash: string }
  readonly anchor?: 'holds' | 'compacted' | 'broken' | undefined
}

function describeChain({ compactedThrough, head, anchor }: Chain): readonly string[] {
  return [
    ...(compactedThrough === 0
      ? []
      : [`compacted: entries up to ${compactedThrough}, for which a checkpoint vouches`]),
    ...(anchor === undefined ? [] : [ANCHOR_WORDS[anchor]]),
    ...(head.number === 0 ? [] : [`head ${head.number}:${head.hash}`]),
  ]
}

const ANCHOR_WORDS = {
  holds: 'the anchor holds: nothing up to it was changed',
  compacted: 'the anchor was compacted away: only a later one can vouch',
  broken: 'the anchor does not hold',
} as const
