// Spending on the file of a simulation, at the time of the simulation.
import { buildPlanCatalog, createSpending, parsePlans } from '../../dist/spending/index.js'
import { sqlite } from '../../dist/stores/sqlite/index.js'

export const openSimulation = (path, day) => {
  const time = { now: day.timeOf(0) }
  const store = sqlite({ path, clock: () => time.now })
  const plans = buildPlanCatalog(parsePlans(JSON.stringify(day.plans), 'simulation'))
  const spending = createSpending({ store, settings: () => day.settings, plans: () => plans })
  return { store, spending, time }
}
