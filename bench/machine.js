/** What a reader must know of the machine, and nothing that would tell whose it is. */
import { availableParallelism, loadavg } from 'node:os'

/** One sentence; the load is that of the minute before, the work of others. */
export const describeMachine = () => {
  const [load] = loadavg()
  const cores = availableParallelism()
  const today = new Date().toISOString().slice(0, 10)
  return `${today}, Node ${process.versions.node}, ${cores} cores under a load of ${load.toFixed(1)} before the run: read ratios only.`
}
