/** `headgate rates query`: the rates in force, page by page. */
import type { Call } from './command.ts'
import { inSeconds, readMoment } from './moments.ts'
import { AFTER_FLAG, LIMIT_FLAG, readLimit } from './page-flags.ts'
import { LABEL_FLAG } from './rate-draft.ts'
import { moreOf, RATE_HEADINGS, rateRow, recordsOf } from './rate-rows.ts'
import { ratesCommand } from './rates-command.ts'
import { table } from './terminal.ts'

export const ratesQuery = ratesCommand({
  name: 'rates query',
  summary: 'The rates in force, page by page.',
  operands: [],
  flags: [
    { name: 'prefix', value: 'TEXT', summary: 'What the subject begins with, as it was given.' },
    LABEL_FLAG,
    { name: 'since', value: 'WHEN', summary: 'Set since then: 7d ago, or a date and time.' },
    { name: 'until', value: 'WHEN', summary: 'Set before then.' },
    AFTER_FLAG,
    LIMIT_FLAG,
  ],
  ask: (rates, call) => rates.query(readQuestion(call)),
  describe: (page) => {
    const rows = recordsOf(page, 'rates').map(rateRow)
    const shown = rows.length === 0 ? 'none' : table([RATE_HEADINGS, ...rows])
    return [shown, ...moreOf(page)].join('\n')
  },
})

function readQuestion({ flags }: Call): Readonly<Record<string, string | number>> {
  const since = readMoment(flags, 'since', 'ago')
  const until = readMoment(flags, 'until', 'ago')
  const [prefix, label, after] = [flags.text('prefix'), flags.text('label'), flags.text('after')]
  return {
    ...(prefix !== undefined && { prefix }),
    ...(label !== undefined && { label }),
    ...(since !== undefined && { since: inSeconds(since) }),
    ...(until !== undefined && { until: inSeconds(until) }),
    ...(after !== undefined && { after }),
    ...readLimit(flags),
  }
}
