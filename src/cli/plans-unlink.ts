/** `headgate plans unlink`: a plan no longer pays for an address or IP. */
import { memberCommand } from './plans-member.ts'

export const plansUnlink = memberCommand('unlink', 'End that a plan pays for an address or an IP.')
