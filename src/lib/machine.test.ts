import { platform } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../test/support/folder.ts'
import { thisMachine } from './machine.ts'

describe('this machine', () => {
  test('has one boot for all processes where the system names it, and an uptime that grows', () => {
    const [one, other] = [thisMachine()(), thisMachine()()]
    if (platform() === 'linux') expect(one.boot).toBe(other.boot)
    expect(one.uptime).toBeGreaterThan(0)
    expect(other.uptime).toBeGreaterThanOrEqual(one.uptime)
  })

  test('has one for each process where the system names none', () => {
    const nowhere = join(temporaryFolder(), 'boot_id')
    const machine = thisMachine(nowhere)
    expect(machine().boot).toBe(machine().boot)
    expect(machine().boot).not.toBe(thisMachine(nowhere)().boot)
  })
})
