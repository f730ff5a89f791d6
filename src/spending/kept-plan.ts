/** Plans that are not in the file: created, switched and linked while Headgate runs. */
import type { Context } from './context.ts'
import { readMoney, writeMoney } from './money-json.ts'
import type { Plan } from './plan.ts'

export const readKeptPlan = ({ view, keys }: Context, id: string): Plan | undefined => {
  const [value] = view.read(keys.plan(id))
  return value === undefined ? undefined : decodeKeptPlan(value)
}

/** Plans kept here have no limits of their own by category. */
export const encodeKeptPlan = (plan: Plan): string => writeMoney(plan)

export const decodeKeptPlan = (value: string): Plan => readMoney<Plan>(value)
