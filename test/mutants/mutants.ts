/** Faults that were once let through, as changes of one place in the source, and the test that finds each. */
export interface Mutant {
  readonly name: string
  readonly file: string
  /** Stands in the file exactly once. */
  readonly text: string
  readonly becomes: string
  readonly test: string
  /** Part of the name of the case that must turn red. */
  readonly case: string
  /** Its case runs only where processes can be traced. */
  readonly isTraced?: true
}

const TRANSACTIONS = 'src/stores/sqlite/transactions.ts'
const SQLITE_SUITE = 'src/stores/sqlite/store.test.ts'
const MEMORY_SUITE = 'src/stores/memory/store.test.ts'
const GROUPS = 'src/stores/sqlite/transactions.test.ts'
const TIME = 'a step sees the time of the clock that the store was opened with'

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'PostgreSQL tells a time from before what it shows',
    file: 'src/stores/postgres/schema.ts',
    text: `  at := \${schema}.micros();\nEND $$;`,
    becomes: 'END $$;',
    test: 'src/stores/postgres/schema.test.ts',
    case: 'a conflict shows nothing that is newer than its time',
  },
  {
    name: 'PostgreSQL counts the running of a server twice',
    file: 'src/stores/postgres/schema.ts',
    text: 'greatest(l.lived, known + ran)',
    becomes: 'l.lived + ran',
    test: 'src/stores/postgres/sweeper.test.ts',
    case: 'nor does it where a server sweeps that was idle',
  },
  {
    name: 'PostgreSQL forgets behind a fence',
    file: 'src/stores/postgres/schema.ts',
    text: '  IF why IS NOT NULL THEN RETURN; END IF;\n',
    becomes: '',
    test: 'src/stores/postgres/sweeper.test.ts',
    case: 'nothing is forgotten behind a fence',
  },
  {
    name: 'an import believes the clock that is furthest ahead',
    file: 'src/stores/moving/import.ts',
    text: 'Math.min(...clocks)',
    becomes: 'Math.max(...clocks)',
    test: 'src/stores/moving/import.test.ts',
    case: 'of several clocks the one that is furthest behind counts',
  },
  {
    name: 'an import does not look again behind its fence',
    file: 'src/stores/moving/import.ts',
    text: '  if (isFirst) {',
    becomes: '  if (isFirst && progress.compared) {',
    test: 'src/stores/moving/import.test.ts',
    case: 'a store that somebody used until the fence stood',
  },
  {
    name: 'Redis applies what expected a value where there is none',
    file: 'src/stores/redis/scripts.ts',
    text: "if wanted ~= '-' then good = false end",
    becomes: '',
    test: 'src/stores/remote/backend.test.ts',
    case: 'what differs from what was expected is a conflict',
  },
  {
    name: 'the script of spends admits one more than the burst',
    file: 'src/stores/redis/spend-script.ts',
    text: "if used > burst * interval then mark = '0' end",
    becomes: "if used > (burst + 1) * interval then mark = '0' end",
    test: 'src/stores/redis/spends.test.ts',
    case: 'give the answers and TATs of the recorded traces',
  },
  {
    name: 'a scripted spend waits for its turn without end',
    file: 'src/stores/redis/spends.ts',
    text: 'tripOf(calls.filter(isInTime))',
    becomes: 'tripOf(calls)',
    test: 'src/stores/redis/spends.test.ts',
    case: 'for longer than its patience is told so, and is not made',
  },
  {
    name: 'a remote store sends what has waited for too long',
    file: 'src/stores/remote/optimist.ts',
    text: 'const calls = waiting.filter(isInTime)',
    becomes: 'const calls = waiting',
    test: 'src/stores/remote/optimist.test.ts',
    case: 'a call that found no turn within its patience gives up',
  },
  {
    name: 'SQLite syncs nothing',
    file: 'src/stores/sqlite/database.ts',
    text: "db.exec('PRAGMA synchronous = FULL')",
    becomes: "db.exec('PRAGMA synchronous = OFF')",
    test: 'test/faults/syncs.test.ts',
    case: 'syncs its log before every answer',
    isTraced: true,
  },
  {
    name: 'SQLite answers before COMMIT',
    file: TRANSACTIONS,
    text: 'sql.commit()\n',
    becomes: 'for (const end of endings) end()\n    sql.commit()\n',
    test: SQLITE_SUITE,
    case: 'a commit that fails answers nobody',
  },
  {
    name: 'SQLite lets a step swallow a failed read',
    file: TRANSACTIONS,
    text: `  const failure = over.failure()
  if (failure !== undefined) throw failure.cause
`,
    becomes: '',
    test: SQLITE_SUITE,
    case: 'a read that fails fails the call',
  },
  {
    name: 'SQLite reads its clock before the lock',
    file: TRANSACTIONS,
    text: `  sql.begin()
  try {
    // Under the lock, so that on one clock no later group sees an earlier time.
    const now = clock()
`,
    becomes: `  const now = clock()
  sql.begin()
  try {
`,
    test: GROUPS,
    case: 'has its time from under the lock',
  },
  {
    name: 'SQLite reads the clock of a look before its view is fixed',
    file: TRANSACTIONS,
    text: `    unfencedState(sql, path)
    const over = overlay(sql, clock())
`,
    becomes: `    const over = overlay(sql, clock())
`,
    test: GROUPS,
    case: 'a look sees nothing that was written after its time',
  },
  {
    name: 'SQLite is a millisecond early',
    file: TRANSACTIONS,
    text: 'const now = clock()\n',
    becomes: 'const now = (clock() - 1_000) as Instant\n',
    test: SQLITE_SUITE,
    case: TIME,
  },
  {
    name: 'memory is a millisecond early',
    file: 'src/stores/memory/store.ts',
    text: 'const now = clock()\n',
    becomes: 'const now = (clock() - 1_000) as Instant\n',
    test: MEMORY_SUITE,
    case: TIME,
  },
  {
    name: 'a late record does not list its window',
    file: 'src/spending/flow/settlement.ts',
    text: '[windowListed(view, window)]',
    becomes: '[windowListed(view, view.calendar.window)]',
    test: 'src/spending/ledger/ledger.test.ts',
    case: 'show a window that only a late record was charged to',
  },
  {
    name: 'a capture is booked in a window that was compacted',
    file: 'src/spending/flow/settlement.ts',
    text: 'const booking = { window,',
    becomes: 'const booking = { window: hold.window,',
    test: 'src/spending/ledger/compaction.test.ts',
    case: 'whose window was compacted is taken back where it counts',
  },
  {
    name: 'a record of long ago is charged to a window of which nothing is remembered',
    file: 'src/spending/flow/step.ts',
    text: 'now - at < known ?',
    becomes: 'now - at < known || true ?',
    test: 'src/spending/ledger/ledger.test.ts',
    case: 'than anything is remembered to the window of now',
  },
  {
    name: 'a capture claims what was taken back of its settlement',
    file: 'src/spending/flow/hold.ts',
    text: 'minAmount(covered, settled - takenBack)',
    becomes: 'covered',
    test: 'src/spending/flow/reversal.test.ts',
    case: 'takes nothing back twice',
  },
]
