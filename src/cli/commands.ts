/** Every command, in the order that help shows. Each has a heading in docs/reference/cli.md. */
import { check } from './check.ts'
import type { Command } from './command.ts'
import { help } from './help.ts'
import { limitsList } from './limits-list.ts'
import { limitsShow } from './limits-show.ts'
import { lint } from './lint.ts'
import { refund } from './refund.ts'
import { reset } from './reset.ts'
import { serve } from './serve.ts'
import { spend } from './spend.ts'
import { tokensNew } from './tokens-new.ts'
import { version } from './version.ts'

export const COMMANDS: readonly Command[] = [
  serve,
  check,
  spend,
  refund,
  reset,
  limitsList,
  limitsShow,
  lint,
  tokensNew,
  version,
  help(() => COMMANDS),
]
