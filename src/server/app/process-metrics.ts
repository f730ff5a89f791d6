/** What servers and signers measure alike: the process itself. */
import { performance } from 'node:perf_hooks'
import { Counter, Gauge, type Registry } from 'prom-client'
import { VERSION } from './version.ts'

const MICROS_PER_SECOND = 1_000_000

/** The metrics of this process, read when Prometheus asks: nothing runs in between. */
export const registerProcessMetrics = (registry: Registry): void => {
  const registers = [registry]
  new Gauge({
    name: 'headgate_build_info',
    help: 'Always 1; the labels say which Headgate runs on which Node.',
    labelNames: ['version', 'node'],
    registers,
  })
    .labels(VERSION, process.version)
    .set(1)
  const memory: Gauge = new Gauge({
    name: 'headgate_resident_memory_bytes',
    help: 'Memory of the process.',
    registers,
    collect: () => {
      memory.set(process.memoryUsage.rss())
    },
  })
  const cpu: Counter = new Counter({
    name: 'headgate_cpu_seconds_total',
    help: 'Processor time of the process, user and system.',
    registers,
    collect: () => {
      const { user, system } = process.cpuUsage()
      cpu.reset()
      cpu.inc((user + system) / MICROS_PER_SECOND)
    },
  })
  registerBusyness(registry)
}

/** Near 1, requests wait for the processor, and more of them will not be answered sooner. */
function registerBusyness(registry: Registry): void {
  let seen = performance.eventLoopUtilization()
  const busy: Gauge = new Gauge({
    name: 'headgate_event_loop_utilization',
    help: 'Share of time since the last look in which the event loop was busy, 0 to 1.',
    registers: [registry],
    collect: () => {
      const now = performance.eventLoopUtilization()
      busy.set(performance.eventLoopUtilization(now, seen).utilization)
      seen = now
    },
  })
}
