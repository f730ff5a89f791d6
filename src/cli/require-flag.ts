/** Flags that a command cannot do without. */
import { refuseCall } from './cli-mistake.ts'
import type { Call } from './command.ts'

export const requireFlag = ({ flags }: Call, name: string): string => {
  const text = flags.text(name)
  if (text !== undefined) return text
  const rule = 'must be given'
  return refuseCall({ code: 'FLAG_VALUE_MISSING', thing: `--${name}`, rule, finding: 'none' })
}
