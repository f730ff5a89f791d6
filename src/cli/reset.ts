/** `headgate reset`: fill a bucket, whatever was charged. */
import { askCommand, OPERATION_FLAG } from './ask.ts'

export const reset = askCommand('reset', 'Fill a bucket, whatever was charged.', [OPERATION_FLAG])
