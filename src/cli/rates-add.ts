/** `headgate rates add`: set a rate for a subject, beside those it has. */
import { DRAFT_FLAGS, DRAFT_OPERANDS, LABEL_FLAG, readDraft } from './rate-draft.ts'
import { textOf } from './rate-rows.ts'
import { ratesCommand } from './rates-command.ts'

export const ratesAdd = ratesCommand({
  name: 'rates add',
  summary: 'Set a rate for a subject, beside those it has. 0 or less blocks.',
  operands: DRAFT_OPERANDS,
  flags: [...DRAFT_FLAGS, LABEL_FLAG],
  ask: (rates, call) => rates.add(readDraft(call)),
  describe: (done) => `added ${textOf(done, 'id')}`,
})
