import { runContractOn } from '../../../test/support/remote-contract.ts'

await runContractOn('redis', {
  'a read that fails fails the call, though the step caught it and went on':
    'no step waits for a read here: what it saw is compared at the commit',
})
