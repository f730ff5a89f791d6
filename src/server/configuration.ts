/** Everything a server is told, read together: the settings, and the catalog they lead to. */

import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { systemCode } from '../core/errors.ts'
import { parseDocument } from '../documents/document.ts'
import type { Node } from '../documents/index.ts'
import { buildCatalog, type Catalog } from '../requests/index.ts'
import { type ConfigFile, readConfig } from './config-file.ts'
import { refuseConfig } from './config-mistake.ts'
import {
  type Environment,
  type Flags,
  gatherOptions,
  readFileOption,
  readHostOption,
  readLogLevel,
  readPort,
  readStoreOption,
  type Sayings,
} from './options.ts'
import { DEFAULT_SETTINGS, type Settings } from './settings.ts'
import { type Sighting, sight } from './sighting.ts'
import { speaksOfSpending } from './spending/is-configured.ts'
import type { SpendingConfiguration } from './spending/spending-configuration.ts'
import { parseStoreUrl } from './store-url.ts'

/** Read if it is there and no other is named. */
export const USUAL_CONFIG_FILE = 'headgate.yml'

/** Who says what: kept, so that a reload hears the same voices again. */
export interface Voices {
  readonly flags?: Flags
  readonly environment?: Environment
}

export interface Configuration {
  readonly settings: Settings
  readonly catalog: Catalog
  /** Every file that was looked for, there or not, as it was before it was read. */
  readonly files: readonly Sighting[]
  /** Absent where nobody speaks of spending. */
  readonly spending?: SpendingConfiguration
}

/** All or nothing: the first mistake in any file refuses all of them. */
export const loadConfiguration = async (voices: Voices = {}): Promise<Configuration> => {
  const sayings = gatherOptions(voices.flags ?? {}, voices.environment ?? {})
  const configFile =
    sayings.config === undefined ? USUAL_CONFIG_FILE : readFileOption(sayings.config)
  const files = [sight(configFile)]
  const config = await readConfigFile(configFile, sayings.config === undefined)
  const settings = settle(sayings, config, configFile)
  const { defaultsFile, overridesFile, refuseReserved } = settings
  files.push(...some(defaultsFile, overridesFile).map(sight))
  const catalog = buildCatalog({
    limits: some(config?.limits),
    defaults: some(defaultsFile && (await readTree(defaultsFile))),
    overrides: some(config?.overrides, overridesFile && (await readTree(overridesFile))),
    policy: { refuseReserved },
  })
  const spending = await loadSpendingOf(settings, config, configFile, voices.environment ?? {})
  if (spending === undefined) return { settings, catalog, files }
  return { settings, catalog, files: [...files, ...spending.files], spending }
}

/** One file as a tree. Missing or unreadable is a mistake that names it. */
export const readTree = async (file: string): Promise<Node> =>
  parseDocument(await readSource(file), file)

async function loadSpendingOf(
  { store }: Settings,
  config: ConfigFile | undefined,
  configFile: string,
  environment: Environment,
): Promise<SpendingConfiguration | undefined> {
  const section = config?.spending
  if (section === undefined && !speaksOfSpending(environment)) return undefined
  const folder = config === undefined ? '.' : dirname(resolve(configFile))
  const { loadSpending } = await import('./spending/spending-configuration.ts')
  const spending = await loadSpending({ section, environment, folder })
  if (parseStoreUrl(store).kind !== 'memory' || spending.allowMemory) return spending
  return refuseConfig({
    code: 'SPENDING_ON_MEMORY',
    thing: 'store',
    rule: 'must not forget what was spent; a test may say so by spending.allowMemory: true',
    finding: store,
  })
}

async function readConfigFile(
  file: string,
  mayBeMissing: boolean,
): Promise<ConfigFile | undefined> {
  try {
    const source = await readFile(file, 'utf8')
    return readConfig(parseDocument(source, file), file)
  } catch (error) {
    if (mayBeMissing && isMissing(error)) return undefined
    return refuseUnreadable(file, error)
  }
}

async function readSource(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    return refuseUnreadable(file, error)
  }
}

/** Anything but the system's answer passes: a mistake inside the file has its own words. */
function refuseUnreadable(file: string, error: unknown): never {
  if (!(error instanceof Error) || !('syscall' in error)) throw error
  const finding = isMissing(error) ? 'none there' : error.message
  return refuseConfig(
    {
      code: 'CONFIG_FILE_UNREADABLE',
      thing: file,
      rule: 'must be a file that can be read',
      finding,
    },
    error,
  )
}

const isMissing = (error: unknown): boolean => systemCode(error) === 'ENOENT'

function settle(sayings: Sayings, config: ConfigFile | undefined, configFile: string): Settings {
  const { limits: _, overrides: __, spending: ___, operations, ...file } = config ?? {}
  return {
    ...DEFAULT_SETTINGS,
    ...file,
    ...(config && { configFile: resolve(configFile) }),
    operations: { ...DEFAULT_SETTINGS.operations, ...operations },
    ...(sayings.host && { host: readHostOption(sayings.host) }),
    ...(sayings.port && { port: readPort(sayings.port) }),
    ...(sayings.store && { store: readStoreOption(sayings.store) }),
    ...(sayings.defaults && { defaultsFile: readFileOption(sayings.defaults) }),
    ...(sayings.overrides && { overridesFile: readFileOption(sayings.overrides) }),
    ...(sayings['log-level'] && { logLevel: readLogLevel(sayings['log-level']) }),
  }
}

function some<T>(...values: readonly (T | '' | undefined)[]): readonly T[] {
  return values.filter((value): value is T => value !== undefined && value !== '')
}
