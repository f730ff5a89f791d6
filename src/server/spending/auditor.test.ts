import { expect, test } from 'vitest'
import { openDesk } from '../../../test/support/ledger-desk.ts'
import { hours, minutes, type Span, span } from '../../core/time.ts'
import type { Timers } from '../../lib/poller.ts'
import type { Verification } from '../../spending/index.ts'
import { keysOf } from '../../spending/keys.ts'
import { startAuditor } from './auditor.ts'

const settled = () => new Promise((resolve) => setTimeout(resolve, 20))

/** A server's auditor over a desk, at a clock and timers that the test moves. */
const audited = async () => {
  const desk = openDesk()
  await desk.spending.record({ from: '0xa1', amount: 5n })
  const lines: [string, object][] = []
  const rounds: Verification[] = []
  const waiting: (() => void)[] = []
  const timers: Timers = {
    after: (_, run) => {
      waiting.push(run)
      return () => {}
    },
  }
  let passed: Span = span(0)
  const tell = (facts: object, message: string) => void lines.push([message, facts])
  const auditor = startAuditor({
    spending: desk.spending,
    log: { info: tell, warn: tell, error: tell },
    uptime: () => passed,
    onRound: (found) => void rounds.push(found),
    timers,
  })
  /** Lets so much time pass, and as many bites as a round takes. */
  const pass = async (time: Span) => {
    passed = span(passed + time)
    const before = rounds.length
    while (rounds.length === before) {
      await settled()
      waiting.shift()?.()
    }
    await settled()
  }
  return { desk, lines, rounds, pass, auditor }
}

test('it verifies by itself, tells the head at its start, and goes on from where it was', async () => {
  const { desk, lines, rounds, pass, auditor } = await audited()
  await pass(span(0))
  expect(rounds[0]).toMatchObject({ findings: [], entries: 1 })
  expect(lines).toEqual([[expect.stringContaining('the ledger ends here'), { ...rounds[0]?.head }]])
  await desk.spending.record({ from: '0xa1', amount: 6n })
  await pass(minutes(2))
  expect(rounds.at(-1)).toMatchObject({ findings: [], entries: 2 })
  expect(lines).toHaveLength(1)
  await desk.spending.record({ from: '0xa1', amount: 7n })
  await pass(hours(2))
  expect(lines).toHaveLength(2)
  await auditor.stop()
})

test('what it finds is logged once, by kind and place', async () => {
  const { desk, lines, rounds, pass, auditor } = await audited()
  await pass(span(0))
  const { startsAt } = await desk.spending.window()
  const key = keysOf('0.0.2').budget(startsAt, 'total')
  await desk.store.transact(() => ({
    writes: [{ key, value: '1' }],
    appends: [],
    result: undefined,
  }))
  await pass(minutes(2))
  await pass(minutes(2))
  expect(rounds.at(-1)?.findings).toMatchObject([{ kind: 'balance-drift', what: 'total' }])
  const told = lines.filter(([message]) => message === 'the books do not agree')
  expect(told).toMatchObject([[expect.anything(), { kind: 'balance-drift', what: 'total' }]])
  await auditor.stop()
})
