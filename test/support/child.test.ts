import { expect, test } from 'vitest'
import { startChild, WITH_PARENT } from './child.ts'
import { until } from './cli.ts'

test('a child dies with the process that started it, though that one was killed', async () => {
  const parent = startChild('test/faults/children/idler.js', [WITH_PARENT])
  const pid = Number(await parent.line())
  expect(isRunning(pid)).toBe(true)
  await parent.kill('SIGKILL')
  await until(() => !isRunning(pid))
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
