/** `headgate plans activate`: a plan may spend again. */
import { switchCommand } from './plans-switch.ts'

export const plansActivate = switchCommand('activate', 'Let a plan spend again.')
