/** The door `headgate/memory`. */
export { type MemoryOptions, memory } from './store.ts'
