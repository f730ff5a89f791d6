/** The fences of a move: whose each is, and how one is taken away. */

import type { Moving, Store, StoreStatus, Write } from '../../core/store.ts'
import type { Instant } from '../../core/time.ts'
import { movingMistake } from './errors.ts'
import { IMPORT_INDEX, IMPORT_KEY } from './records.ts'

/** The first word is its name; the rest is for people. */
export const exportFence = (id: string, at: Instant): string =>
  `export-${id}, put up by headgate store export at ${new Date(at / 1_000).toISOString()}`

export const importFence = (id: string): string =>
  `import-${id}, put up by headgate store import until all is there`

/** And stands around all of it. */
export const isFenceOfExport = ({ fence = '', partly }: StoreStatus, id: string): boolean =>
  !partly && nameOfFence(fence) === `export-${id}`

const nameOfFence = (fence: string): string => /^[^\s,]*/.exec(fence)?.[0] ?? ''

export function movingOf({ moving }: Store): Moving {
  if (moving !== undefined) return moving
  const rule = 'must be a store that can be moved'
  throw movingMistake('STORE_NOT_MOVABLE', 'the store', rule, 'one without a way to')
}

/**
 * Lets servers use a store again. By the name of its fence, so that it is not that of somebody else's
 * move; and never while it is half filled. Answers the fence; undefined if there was none.
 */
export const unfenceStore = async (store: Store, name: string): Promise<string | undefined> => {
  const moving = movingOf(store)
  const { fence } = await moving.status()
  if (fence === undefined) return undefined
  if (nameOfFence(fence) !== name) {
    const rule = `must be fenced by ${name} for that fence to be taken away`
    throw movingMistake('STORE_FENCED_OTHERWISE', 'the store', rule, fence)
  }
  await refuseHalfFilled(store)
  await moving.fence(undefined)
  return fence
}

/** What an import keeps in the store that it fills. */
export interface ImportProgress {
  readonly file: string
  /** Which process fills it: one that comes later takes over, and the earlier one stops. */
  readonly by: string
  /** No key expires before, in milliseconds. */
  readonly floor: number
  /** Records that are there for good. */
  readonly done: number
  /** All is there and as it was: only the fence is left to go. */
  readonly compared: boolean
}

/** By its list: of a fenced store nothing else shows one key. */
export const readImportProgress = async (store: Store): Promise<ImportProgress | undefined> => {
  const [item] = await store.range(IMPORT_INDEX, '', 1)
  return item === undefined ? undefined : JSON.parse(item.value)
}

export const refuseHalfFilled = async (store: Store): Promise<void> => {
  const progress = await readImportProgress(store)
  if (progress === undefined || progress.compared) return
  const rule = 'must have all of the file that is being imported; run that import again'
  throw movingMistake('STORE_IMPORT_UNFINISHED', 'the store', rule, `${progress.done} records`)
}

export const progressWrite = (progress: ImportProgress): Write => ({
  key: IMPORT_KEY,
  value: JSON.stringify(progress),
})

/** Without its fence servers use the store, and what they were told would be written over. */
export async function refuseUnlessBehindFence(
  store: Store,
  { file }: ImportProgress,
): Promise<void> {
  const { fence, partly } = await movingOf(store).status()
  if (fence === importFence(file) && !partly) return
  const rule = 'must keep its fence until all of the file is there'
  const finding = partly ? 'one around a part of it' : (fence ?? 'no fence')
  throw movingMistake('STORE_NOT_FENCED', 'the store', rule, finding)
}

/** Two at once would end in one of them writing to a store that servers use again. */
export async function refuseUnlessOurs(store: Store, { by }: ImportProgress): Promise<void> {
  if ((await readImportProgress(store))?.by === by) return
  const rule = 'must be filled by one import at a time'
  throw movingMistake('STORE_IMPORT_UNFINISHED', 'the store', rule, 'another one since')
}
