/** The machine that a process runs on, as a witness of its clock. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { type MachineReading, machineOf } from '../core/machine-clock.ts'

const BOOT_ID = '/proc/sys/kernel/random/boot_id'

/**
 * `os.uptime()` counts sleep on Linux (CLOCK_BOOTTIME), macOS and Windows. Only Linux names its boot;
 * elsewhere each process takes an id of its own, and so every start counts as one after a reboot.
 */
export const thisMachine = (bootFile = BOOT_ID): (() => MachineReading) =>
  machineOf(bootOf(bootFile) ?? randomUUID(), uptime)

function bootOf(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim()
    return /^[0-9a-f-]{36}$/.test(text) ? text : undefined
  } catch {
    return undefined
  }
}
