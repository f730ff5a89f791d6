/** Plans that nobody configured: one BASIC plan for each caller, named after it. */
import type { Plan } from './plan.ts'

/** No configured plan has an id that starts so. */
export const IMPLICIT_PREFIX = 'basic:'

export const implicitPlanId = (caller: string): string => `${IMPLICIT_PREFIX}${caller}`

export const isImplicitId = (id: string): boolean => id.startsWith(IMPLICIT_PREFIX)

export const implicitPlan = (id: string): Plan => ({
  id,
  tier: 'BASIC',
  active: true,
  source: 'implicit',
})
