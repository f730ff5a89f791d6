/** What `rates add` and `rates set` say about a rate. */
import { quote } from '../documents/index.ts'
import type { WireDraft } from '../subjects/index.ts'
import { refuseCall } from './cli-mistake.ts'
import type { Call, Flag, Operand } from './command.ts'
import { inSeconds, readMoment } from './moments.ts'

export const DRAFT_OPERANDS: readonly Operand[] = [{ name: 'SUBJECT' }, { name: 'RATE' }]

export const DRAFT_FLAGS: readonly Flag[] = [
  { name: 'expires', value: 'WHEN', summary: 'From then on it is gone: 7d, or a date and time.' },
  { name: 'reason', value: 'TEXT', summary: 'Why; for whoever looks it up.' },
]

export const LABEL_FLAG: Flag = {
  name: 'label',
  value: 'LABEL',
  summary: 'Whose rate it is, such as fraud or billing.',
}

export const readDraft = ({ operands, flags }: Call): WireDraft => {
  const [subject = '', rate = ''] = operands
  const expires = readMoment(flags, 'expires', 'ahead')
  const reason = flags.text('reason')
  const label = flags.text('label')
  return {
    subject,
    rate: readNumber(rate, 'RATE'),
    ...(expires !== undefined && { expires: inSeconds(expires) }),
    ...(reason !== undefined && { reason }),
    ...(label !== undefined && { label }),
  }
}

export const readNumber = (text: string, thing: string): number => {
  const number = Number(text)
  if (/^-?\d+(?:\.\d+)?(?:e-?\d+)?$/i.test(text) && Number.isFinite(number)) return number
  const finding = quote(text)
  return refuseCall({ code: 'FLAG_VALUE_INVALID', thing, rule: 'must be a number', finding })
}
