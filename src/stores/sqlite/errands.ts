/** Work on the file that needs no view: pages for readers, and trimming. */
import type { Span } from '../../core/time.ts'
import type { Connection } from './connection.ts'
import { queue } from './queue.ts'
import type { Statements } from './statements.ts'

export interface Errands {
  /** `work` may run again: it must not mind. */
  run<T>(work: (sql: Statements) => T): Promise<T>
  drained(): Promise<void>
}

interface Errand {
  /** Does the work and answers how to tell the caller. */
  work(sql: Statements): () => void
  reject(error: unknown): void
}

export function errands(connection: Connection, path: string, patience: Span): Errands {
  const waiting = queue<Errand>({
    path,
    patience,
    serve: (group) => {
      const endings = connection.use((sql) => group.map(({ work }) => work(sql)))
      for (const end of endings) end()
    },
    fail: ({ reject }, error) => reject(error),
  })
  return {
    run: (work) =>
      new Promise((resolve, reject) => {
        const tell = (sql: Statements) => {
          const result = work(sql)
          return () => resolve(result)
        }
        waiting.push({ work: tell, reject })
      }),
    drained: waiting.drained,
  }
}
