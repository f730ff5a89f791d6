/** `headgate plans link`: a plan pays for an address or IP. */
import { memberCommand } from './plans-member.ts'

export const plansLink = memberCommand('link', 'Let a plan pay for an address (0x…) or an IP.')
