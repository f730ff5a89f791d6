/** Steps on their way into the file: those of one moment form a group. */
import type { Step } from '../../core/store.ts'
import type { Clock, Span } from '../../core/time.ts'
import type { Connection } from './connection.ts'
import { type Call, type CommittedGroup, runGroup } from './group.ts'
import { queue } from './queue.ts'
import { sweep } from './sweep.ts'

export interface Transactions {
  run<R>(step: Step<R>): Promise<R>
  drained(): Promise<void>
}

export interface TransactionsOptions {
  readonly path: string
  readonly patience: Span
  readonly clock: Clock
  readonly onCommit: (group: CommittedGroup) => void
}

export function transactions(
  connection: Connection,
  { path, patience, clock, onCommit }: TransactionsOptions,
): Transactions {
  const sweeping = sweep()
  const calls = queue<Call>({
    path,
    patience,
    serve: (group) => {
      const { endings, committed } = connection.use((sql) => runGroup(sql, group, clock, sweeping))
      for (const end of endings) end()
      // Apart from the group, so that a listener that throws fails nobody's call.
      if (committed !== undefined) queueMicrotask(() => onCommit(committed))
    },
    fail: ({ reject }, error) => reject(error),
  })
  return {
    run: (step) =>
      new Promise((resolve, reject) => {
        const enter: Call['enter'] = (over) => {
          const plan = step(over.view)
          over.apply(plan)
          return () => resolve(plan.result)
        }
        calls.push({ enter, reject })
      }),
    drained: calls.drained,
  }
}
