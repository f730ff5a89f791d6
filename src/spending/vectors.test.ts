/** The scenarios of test/vectors/spending, on a real SQLite file. */
import { describe, expect, test } from 'vitest'
import { scratchFile } from '../../test/support/scratch-file.ts'
import { openPlayer, type Scenario, type Step } from '../../test/support/spending-scenario.ts'
import { vectors } from '../../test/support/vectors.ts'

const SUITES = [
  '01-limits',
  '02-resolution',
  '03-auto-basic-plan',
  '04-shared-plans',
  '05-total-budget',
  '06-windows',
  '07-preemptive-fees',
  '09-config-reload',
  '10-integrity',
  '11-reservations',
  '12-operator-balance',
  '13-categories',
  '16-grants-rollover',
]

interface Difference {
  /** By the position of the step. */
  readonly expect: Readonly<Record<number, object>>
  readonly reason: string
}

/** Where Headgate answers otherwise, on purpose: each with its reason. */
const DIFFERENCES: Readonly<Record<string, Difference>> = {
  'INT-010': {
    expect: { 2: { limited: true, reason: 'STORE_UNAVAILABLE', degraded: true } },
    reason: 'spending is always closed while its store is down: open would mean unlimited',
  },
}

for (const suite of SUITES) {
  const { about, scenarios } = vectors<{ about: string; scenarios: readonly Scenario[] }>(
    `spending/${suite}.json`,
  )
  describe(`${suite}: ${about}`, () => {
    for (const scenario of scenarios.filter(({ steps }) => steps.some(isMoney))) {
      test(`${scenario.id}: ${scenario.title}`, async () => {
        const player = openPlayer(scenario, scratchFile())
        for (const [i, step] of scenario.steps.entries()) {
          const found = await player.play(step)
          const expected = DIFFERENCES[scenario.id]?.expect[i] ?? step.expect
          if (expected !== undefined) expect(found, describeStep(step)).toMatchObject(expected)
        }
        await player.close()
      })
    }
  })
}

/** The fee estimate is a pure function with tests of its own. */
function isMoney({ op }: Step): boolean {
  return op !== 'estimateFileFee'
}

function describeStep({ expect: _, ...step }: Step): string {
  return JSON.stringify(step)
}
