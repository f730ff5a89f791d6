/** The `odis-key-version` header: which key a client asks for. */

export const KEY_VERSION_HEADER = 'odis-key-version'

export interface VersionedKeys<Key> {
  /** The version that answers where none is asked for. */
  readonly current: number
  find(version: number): Key | undefined
}

export interface VersionedKey<Key> {
  readonly version: number
  readonly key: Key
}

/** Undefined for a version that is none, or that is not here. Deployed clients may send `undefined` as text. */
export const chooseKey = <Key>(
  header: string | undefined,
  keys: VersionedKeys<Key>,
): VersionedKey<Key> | undefined => {
  const text = header?.trim() ?? ''
  const asked = text === '' || text === 'undefined' ? String(keys.current) : text
  if (!/^(?:0|[1-9]\d{0,8})$/.test(asked)) return undefined
  const version = Number(asked)
  const key = keys.find(version)
  return key === undefined ? undefined : { version, key }
}
