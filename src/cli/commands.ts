/** Every command, in the order that help shows. Each has a heading in docs/reference/cli.md. */
import { check } from './check.ts'
import type { Command } from './command.ts'
import { delegate } from './delegate.ts'
import { help } from './help.ts'
import { keysNew } from './keys-new.ts'
import { keysShow } from './keys-show.ts'
import { limitsList } from './limits-list.ts'
import { limitsShow } from './limits-show.ts'
import { lint } from './lint.ts'
import { odisAudit } from './odis-audit.ts'
import { odisKeygen } from './odis-keygen.ts'
import { odisSigner } from './odis-signer.ts'
import { plansActivate } from './plans-activate.ts'
import { plansCreate } from './plans-create.ts'
import { plansDeactivate } from './plans-deactivate.ts'
import { plansDiff } from './plans-diff.ts'
import { plansExport } from './plans-export.ts'
import { plansGrant } from './plans-grant.ts'
import { plansHistory } from './plans-history.ts'
import { plansLink } from './plans-link.ts'
import { plansList } from './plans-list.ts'
import { plansShow } from './plans-show.ts'
import { plansUnlink } from './plans-unlink.ts'
import { plansVerify } from './plans-verify.ts'
import { ratesAdd } from './rates-add.ts'
import { ratesGet } from './rates-get.ts'
import { ratesHistory } from './rates-history.ts'
import { ratesList } from './rates-list.ts'
import { ratesQuery } from './rates-query.ts'
import { ratesRemove } from './rates-remove.ts'
import { ratesSet } from './rates-set.ts'
import { refund } from './refund.ts'
import { reset } from './reset.ts'
import { revoke } from './revoke.ts'
import { serve } from './serve.ts'
import { spend } from './spend.ts'
import { spendingEstimate } from './spending-estimate.ts'
import { spendingReport } from './spending-report.ts'
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
  ratesAdd,
  ratesSet,
  ratesList,
  ratesGet,
  ratesRemove,
  ratesQuery,
  ratesHistory,
  delegate,
  revoke,
  keysNew,
  keysShow,
  plansList,
  plansShow,
  plansCreate,
  plansActivate,
  plansDeactivate,
  plansLink,
  plansUnlink,
  plansGrant,
  plansHistory,
  plansDiff,
  plansVerify,
  plansExport,
  spendingEstimate,
  spendingReport,
  lint,
  tokensNew,
  odisKeygen,
  odisSigner,
  odisAudit,
  version,
  help(() => COMMANDS),
]
