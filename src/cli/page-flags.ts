/** Flags of commands that answer by the page. */
import type { Flag } from './command.ts'
import type { FlagValues } from './flag-values.ts'
import { readNumber } from './rate-draft.ts'

export const AFTER_FLAG: Flag = {
  name: 'after',
  value: 'NEXT',
  summary: 'Go on where the page before ended.',
}

export const LIMIT_FLAG: Flag = { name: 'limit', value: 'N', summary: 'How many; 100.' }

export const readLimit = (flags: FlagValues): { readonly limit?: number } => {
  const text = flags.text('limit')
  return text === undefined ? {} : { limit: readNumber(text, '--limit') }
}
