/** The door `headgate/memory`. */
export { type MemoryOptions, memoryStore } from './store.ts'
