/** What stands in the way of a move, before and while it is under way. */
import { type MakeMistake, makeMistake } from '../../core/errors.ts'

/**
 * - `STORE_NOT_MOVABLE`: a store that cannot be moved, such as one in memory.
 * - `STORE_NOT_FENCED`: a store that lost its fence while it was exported or filled.
 * - `STORE_FENCED_OTHERWISE`: a store whose fence is another than the one to be taken away.
 * - `STORE_NOT_EMPTY`: an import into a store that holds something.
 * - `STORE_CLOCK_BEHIND`: an import into a store whose clock is behind what it would hold.
 * - `STORE_IMPORT_UNFINISHED`: a store that holds only a part of the file that is being imported.
 * - `STORE_IMPORT_DIFFERS`: what was imported is not what the file holds.
 * - `STORE_FILE_INVALID`: no export, of a newer version, or damaged.
 * - `STORE_FILE_UNWRITABLE`: a file that is there already, or cannot be made.
 */
export type MovingErrorCode =
  | 'STORE_NOT_MOVABLE'
  | 'STORE_NOT_FENCED'
  | 'STORE_FENCED_OTHERWISE'
  | 'STORE_NOT_EMPTY'
  | 'STORE_CLOCK_BEHIND'
  | 'STORE_IMPORT_UNFINISHED'
  | 'STORE_IMPORT_DIFFERS'
  | 'STORE_FILE_INVALID'
  | 'STORE_FILE_UNWRITABLE'

export const movingMistake: MakeMistake<MovingErrorCode> = makeMistake
