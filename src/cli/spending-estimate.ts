/** `headgate spending estimate`: what storing call data in files will cost, before it is done. */
import { quote } from '../documents/index.ts'
import { formatAmount, HBAR } from '../spending/amount.ts'
import { type ExchangeRate, rateOf } from '../spending/exchange-rate.ts'
import { estimateFileFee, FEE_TABLES, type FeeTableName } from '../spending/fee-estimate.ts'
import { createMirrorNode } from '../spending/mirror-node.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Command } from './command.ts'
import { JSON_FLAG } from './common-flags.ts'
import type { FlagValues } from './flag-values.ts'
import { tell } from './plans-api.ts'

/** As relays append to files: 5 KB at once. */
const CHUNK_SIZE = 5_120

export const spendingEstimate: Command = {
  name: 'spending estimate',
  summary: 'What storing call data in files will cost. Asks nobody but the mirror node, if told.',
  operands: [{ name: 'SIZE' }],
  flags: [
    { name: 'chunk', value: 'BYTES', summary: `The size of one append; ${CHUNK_SIZE}.` },
    { name: 'rate', value: 'CENTS', summary: 'US cents for one HBAR.' },
    { name: 'mirror-node', value: 'URL', summary: 'Where to ask for the rate instead.' },
    { name: 'table', value: 'TABLE', summary: 'current or legacy fees; current.' },
    JSON_FLAG,
  ],
  run: async (call) => {
    const [size = ''] = call.operands
    const { flags } = call
    const callDataSize = readBytes(size, 'SIZE')
    const chunkSize = readBytes(flags.text('chunk') ?? String(CHUNK_SIZE), '--chunk')
    const table = readTable(flags.text('table') ?? 'current')
    const rate = await readRate(flags)
    const tinybars = estimateFileFee({ callDataSize, chunkSize, rate, table })
    const body = { callDataSize, chunkSize, table, tinybars: tinybars.toString() }
    tell(call, body, () => `${tinybars} tinybars (${formatAmount(tinybars, HBAR)})`)
    return 0
  },
}

async function readRate(flags: FlagValues): Promise<ExchangeRate | undefined> {
  const url = flags.text('mirror-node')
  if (url !== undefined) {
    if (/^https?:\/\//.test(url) && URL.canParse(url))
      return createMirrorNode({ url }).exchangeRate()
    return refuse('--mirror-node', 'must be an http or https address', url)
  }
  const text = flags.text('rate')
  if (text === undefined) return undefined
  if (/^\d{1,9}(?:\.\d{1,12})?$/.test(text)) return rateOf(Number(text))
  return refuse('--rate', 'must be cents, such as 12 or 4.3', text)
}

function readBytes(text: string, thing: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  return refuse(thing, 'must be a whole number of bytes', text)
}

function readTable(text: string): FeeTableName {
  if (text === 'current' || text === 'legacy') return text
  return refuse('--table', `must be one of ${Object.keys(FEE_TABLES).join(', ')}`, text)
}

const refuse = (thing: string, rule: string, text: string): never =>
  refuseCall({ code: 'FLAG_VALUE_INVALID', thing, rule, finding: quote(text) })
