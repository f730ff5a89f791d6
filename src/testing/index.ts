/** The door `headgate/testing`: what any store must pass, and tools to test time and purity. */
export type { ContractCase, ContractOptions, OpenedStore, OpenStore } from './contract/case.ts'
export type { Namer } from './contract/named-store.ts'
export { type FakeClock, type FakeClockErrorCode, fakeClock } from './fake-clock.ts'
export { pretendedCluster } from './pretended-cluster.ts'
export { type RemoteOptions, type RemoteStore, remoteStore } from './remote-store.ts'
export { restlessStore } from './restless-store.ts'
export { type ContractErrorCode, storeContract } from './store-contract.ts'
