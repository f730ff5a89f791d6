/** `headgate rates set`: replace what a label says of a subject. */
import { DRAFT_FLAGS, DRAFT_OPERANDS, LABEL_FLAG, readDraft } from './rate-draft.ts'
import { recordsOf, textOf } from './rate-rows.ts'
import { ratesCommand } from './rates-command.ts'
import { requireFlag } from './require-flag.ts'

export const ratesSet = ratesCommand({
  name: 'rates set',
  summary: 'Replace what a label says of a subject. Loosens a block only with --force.',
  operands: DRAFT_OPERANDS,
  flags: [LABEL_FLAG, ...DRAFT_FLAGS, { name: 'force', summary: 'Loosen a block, or shorten it.' }],
  ask: (rates, call) => {
    const label = requireFlag(call, 'label')
    const force = call.flags.has('force') ? { force: true } : {}
    return rates.set({ ...readDraft(call), label, ...force })
  },
  describe: (done) => {
    const replaced = recordsOf(done, 'replaced').map((rate) => textOf(rate, 'id'))
    const instead = replaced.length === 0 ? '' : ` in place of ${replaced.join(', ')}`
    return `set ${textOf(done, 'id')}${instead}`
  },
})
