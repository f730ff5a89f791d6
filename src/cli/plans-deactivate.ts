/** `headgate plans deactivate`: a plan is refused with PLAN_INACTIVE. */
import { switchCommand } from './plans-switch.ts'

export const plansDeactivate = switchCommand(
  'deactivate',
  'Refuse a plan with PLAN_INACTIVE. One user is switched off by basic:ADDRESS.',
)
