/** `headgate check`: would it be allowed? */
import { askCommand, COST_FLAG, SUBJECT_FLAG } from './ask.ts'

export const check = askCommand(
  'check',
  'Ask whether a limit would allow it. Charges nothing; exit 2 if refused.',
  [COST_FLAG, SUBJECT_FLAG],
)
