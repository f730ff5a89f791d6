/** `headgate spend`: charge a bucket, if the limit allows it. */
import { askCommand, COST_FLAG, MODE_FLAG, OPERATION_FLAG, SUBJECT_FLAG } from './ask.ts'

export const spend = askCommand(
  'spend',
  'Charge a bucket if its limit allows it. A refusal charges nothing; exit 2.',
  [COST_FLAG, MODE_FLAG, OPERATION_FLAG, SUBJECT_FLAG],
)
