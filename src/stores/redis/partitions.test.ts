import { runContractOn } from '../../../test/support/remote-contract.ts'

const NAMED = 'the servers of a cluster name each other, past what stands between'

await runContractOn('cluster', {
  'a commit that fails answers nobody, leaves nothing, and is over when its cause is': NAMED,
  'a read that fails fails the call, though the step caught it and went on':
    'no step waits for a read here: what it saw is compared at the commit',
  'a reply that is lost after its commit is an unwell store to the caller, and the commit stays':
    NAMED,
  'a call that carries an id and is made again after a lost reply has its effect once': NAMED,
})
