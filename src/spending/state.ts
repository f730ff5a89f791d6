/** Where a caller stands now: its plan and the payer's total. Asks for nothing and changes nothing. */
import { isOff, offAnswer } from './admission.ts'
import { readAllowance } from './allowance.ts'
import { type PlanStanding, planStanding, type Standings, totalStanding } from './answer.ts'
import { type Purpose, toWho } from './ask.ts'
import type { Context } from './context.ts'
import { planNode, TOTAL } from './party.ts'
import type { Plan } from './plan.ts'
import { requirePlan } from './plans-admin.ts'
import { resolve } from './resolve.ts'
import { readSheet } from './sheet.ts'

export const standingOf = (context: Context, purpose: Purpose): Standings => {
  const who = toWho(purpose)
  const { window } = context.calendar
  if (isOff(context)) return { plan: null, total: offAnswer(context).total, window }
  const { plan } = resolve(context, who)
  const total = totalStanding(context, readSheet(context, window.startsAt, [TOTAL]))
  return { plan: plan === undefined ? null : standingOfPlan(context, plan), total, window }
}

export const planStandingById = (context: Context, id: string): PlanStanding =>
  standingOfPlan(context, requirePlan(context, id))

function standingOfPlan(context: Context, plan: Plan): PlanStanding {
  const { startsAt } = context.calendar.window
  const node = planNode(plan.id)
  const sheet = readSheet(context, startsAt, [node])
  const allowance = readAllowance(context, plan, startsAt)
  return planStanding(context, plan, allowance, sheet, sheet.get(node) === undefined)
}
