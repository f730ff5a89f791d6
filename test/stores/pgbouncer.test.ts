/** PostgreSQL through PgBouncer in transaction mode: the same contract, though no two statements share a session. */
import { runContractOn } from '../support/remote-contract.ts'

await runContractOn('pgbouncer', {
  'a read that fails fails the call, though the step caught it and went on':
    'no step waits for a read here: what it saw is compared at the commit',
})
