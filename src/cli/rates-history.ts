/** `headgate rates history`: who changed what, when and by what right. Nothing is ever taken out of it. */
import type { Call } from './command.ts'
import { AFTER_FLAG, LIMIT_FLAG, readLimit } from './page-flags.ts'
import { readNumber } from './rate-draft.ts'
import { momentOf, moreOf, recordOf, recordsOf, textOf } from './rate-rows.ts'
import { type Done, ratesCommand } from './rates-command.ts'
import { table } from './terminal.ts'

export const ratesHistory = ratesCommand({
  name: 'rates history',
  summary: 'Who changed what, when and by what right; oldest first.',
  operands: [],
  flags: [
    { name: 'subject', value: 'SUBJECT', summary: 'Only of this subject, in any spelling.' },
    AFTER_FLAG,
    LIMIT_FLAG,
  ],
  ask: (rates, call) => rates.history(readQuestion(call)),
  describe: (page) => {
    const rows = recordsOf(page, 'entries').map(toRow)
    const shown = rows.length === 0 ? 'none' : table([HEADINGS, ...rows])
    return [shown, ...moreOf(page)].join('\n')
  },
})

const HEADINGS = ['N', 'WHEN', 'CHANGE', 'RATES', 'BY']

const toRow = (entry: Done): readonly string[] => [
  textOf(entry, 'position'),
  momentOf(entry, 'at'),
  textOf(entry, 'kind'),
  [...named('+', recordsOf(entry, 'added')), ...named('-', recordsOf(entry, 'removed'))].join(', '),
  textOf(recordOf(entry['by']), 'issuer'),
]

const named = (sign: string, rates: readonly Done[]): readonly string[] =>
  rates.map(
    (rate) => `${sign}${textOf(rate, 'id')} ${textOf(rate, 'subject')} ${textOf(rate, 'rate')}`,
  )

function readQuestion({ flags }: Call): Readonly<Record<string, string | number>> {
  const subject = flags.text('subject')
  const after = flags.text('after')
  return {
    ...(subject !== undefined && { subject }),
    ...(after !== undefined && { after: readNumber(after, '--after') }),
    ...readLimit(flags),
  }
}
