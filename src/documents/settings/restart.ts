/** Which settings a reload changes, and which a running server keeps until a restart: the table decides. */
import { isDeepStrictEqual } from 'node:util'
import {
  isSection,
  type Section,
  type Setting,
  type SettingsOf,
  type SettingsTable,
} from './table.ts'

/**
 * What a running server keeps until a restart, by name: one name for a section that keeps all its
 * keys. Without what no file can change.
 */
export const keptValues = (
  table: SettingsTable,
  settings: object,
  prefix = '',
): ReadonlyMap<string, unknown> => {
  const values: Readonly<Record<string, unknown>> = { ...settings }
  return new Map(
    Object.entries(table).flatMap(([key, entry]): readonly (readonly [string, unknown])[] => {
      const [name, value] = [`${prefix}${key}`, values[key]]
      if (!isReloaded(entry)) return 'inFile' in entry ? [] : [[name, value]]
      return isSection(entry) ? [...keptValues(entry.section, Object(value), `${name}.`)] : []
    }),
  )
}

/** The names that both have, with another value in `next`. */
export const changedNames = (
  running: ReadonlyMap<string, unknown>,
  next: ReadonlyMap<string, unknown>,
): readonly string[] =>
  [...running.keys()].filter(
    (name) => next.has(name) && !isDeepStrictEqual(running.get(name), next.get(name)),
  )

/** The settings in force after a reload: of those that need a restart, the running ones. */
export const afterReload = <T extends SettingsTable>(
  table: T,
  running: SettingsOf<T>,
  next: SettingsOf<T>,
): SettingsOf<T> => {
  const settings: Record<string, unknown> = {}
  const [before, after] = [new Map(Object.entries(running)), new Map(Object.entries(next))]
  for (const [key, entry] of Object.entries(table)) {
    const [old, fresh] = [before.get(key), after.get(key)]
    const inForce = isReloaded(entry) ? fresh : old
    const value = isSection(entry)
      ? afterReload(entry.section, Object(old), Object(fresh))
      : inForce
    if (value !== undefined) settings[key] = value
  }
  return settings as SettingsOf<T>
}

/** Of a section, whether any of its keys is. */
const isReloaded = (entry: Setting | Section): boolean =>
  isSection(entry) ? Object.values(entry.section).some(isReloaded) : entry.reloads === true
