/** A day of a busy relay, killed at noon: nothing beyond the budget is spent, and the report adds up. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { times } from '../support/counts.ts'
import { ROOT } from '../support/sources.ts'

const run = promisify(execFile)

test('a simulated day adds up to the tinybar', async () => {
  const transactions = times(2_500, 100_000)
  const users = transactions / 10
  const words = ['--users', `${users}`, '--transactions', `${transactions}`, '--json']
  const script = `${ROOT}scripts/simulate-day.js`
  const { stdout, stderr } = await run(process.execPath, [script, ...words])
  const day = JSON.parse(stdout)
  expect(Object.entries(day.checks).filter(([, holds]) => holds !== true)).toEqual([])
  expect(BigInt(day.spent)).toBeLessThanOrEqual(BigInt(day.budget))
  // The day had everything in it that it promised.
  expect(day.refused.TOTAL_BUDGET).toBeGreaterThan(0)
  expect(day.repeated).toBeGreaterThan(0)
  expect(day.resumedAt).toBeLessThan(day.killedAt)
  expect(stderr).toMatch(/█+░* \d\d:00 +\d+ %/)
})
