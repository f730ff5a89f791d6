/** Moving all of a store into a file, and from there into another store. */
export { exportStore } from './export.ts'
export { unfenceStore } from './fences.ts'
export { importStore } from './import.ts'
export { describeSummary, type MoveOutcome, type MoveProgress } from './records.ts'
