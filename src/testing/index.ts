/** The door `headgate/testing`: what any store must pass, and tools to test time and purity. */
export type { ContractCase, ContractOptions, OpenedStore, OpenStore } from './contract/case.ts'
export type { TestingErrorCode } from './errors.ts'
export { type FakeClock, fakeClock } from './fake-clock.ts'
export { restlessStore } from './restless-store.ts'
export { storeContract } from './store-contract.ts'
