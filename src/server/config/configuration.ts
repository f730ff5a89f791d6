/** The whole configuration of a server, loaded together: settings, the catalog they lead to, and spending. */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { assert, systemCode } from '../../core/errors.ts'
import { parseDocument } from '../../documents/document.ts'
import { type Gathering, gathering, mistakesIn } from '../../documents/mistakes.ts'
import type { Node } from '../../documents/node.ts'
import type { Environment } from '../../documents/settings/reader.ts'
import { changedNames, keptValues } from '../../documents/settings/restart.ts'
import { complete } from '../../documents/settings/table.ts'
import { type FileSnapshot, snapshotFile } from '../../lib/follow-files.ts'
import { buildCatalog } from '../../requests/acme/formats.ts'
import type { Catalog, CatalogSources } from '../../requests/catalog/catalog.ts'
import { loadSpending, type SpendingConfiguration } from '../spending/config.ts'
import { refuseConfig } from './config-mistake.ts'
import { refuseUnknownVariables } from './known-variables.ts'
import { readOptions } from './options.ts'
import {
  type ConfigFile,
  type FlagTexts,
  readConfig,
  SERVER_SETTINGS,
  type Settings,
} from './settings.ts'
import { parseStoreUrl } from './store-url.ts'

/** Read if it is there and no other is named. */
const USUAL_CONFIG_FILE = 'headgate.yml'

/** Flags win over the environment, the environment over the file. Kept, to read all of them again at a reload. */
export interface ConfigSources {
  readonly flags?: FlagTexts
  readonly environment?: Environment
  /** For those who ask about limits: without a file of them every answer would be that nothing is limited. */
  readonly needsLimits?: boolean
}

export interface Configuration {
  readonly settings: Settings
  readonly catalog: Catalog
  /** Every file that was looked for, there or not, as it was before it was read. */
  readonly files: readonly FileSnapshot[]
  /** Absent where spending is not configured. */
  readonly spending?: SpendingConfiguration
}

/** All or nothing: a mistake refuses all files, and those of all of them are thrown together. */
export const loadConfiguration = async (sources: ConfigSources = {}): Promise<Configuration> => {
  const { environment = {} } = sources
  const mistakes = gathering()
  mistakes.attempt(() => refuseUnknownVariables(environment))
  const options = mistakes.attempt(() => readOptions(SERVER_SETTINGS, sources)) ?? {}
  const path = options.configFile ?? USUAL_CONFIG_FILE
  const files = [snapshotFile(path)]
  const before = mistakes.found.length
  const file = await readConfigFile(path, options.configFile === undefined, mistakes)
  const unread = file === undefined && mistakes.found.length > before
  const { limits, overrides, spending, ...settings } = complete(
    SERVER_SETTINGS,
    file ?? {},
    options,
    file === undefined ? {} : { configFile: resolve(path) },
  )
  const { defaultsFile, overridesFile, refuseReserved, skipUnmatchable } = settings
  if (sources.needsLimits === true && !(unread || file || defaultsFile || overridesFile)) {
    mistakes.attempt(refuseNotFound)
  }
  files.push(...some(defaultsFile, overridesFile).map(snapshotFile))
  const catalog = await gatherCatalog(
    {
      limits: some(limits),
      defaultsFiles: some(defaultsFile),
      overrides: some(overrides),
      overridesFiles: some(overridesFile),
      policy: { refuseReserved, skipUnmatchable },
      unread,
    },
    mistakes,
  )
  const folder = file === undefined ? '.' : dirname(resolve(path))
  const spent = await mistakes.attemptLater(() =>
    loadSpending({ section: spending, environment, folder }),
  )
  if (spent?.allowMemory === false) mistakes.attempt(() => refuseSpendingOnMemory(settings.store))
  mistakes.end()
  assert(catalog !== undefined, 'a catalog without mistakes is there')
  if (spent === undefined) return { settings, catalog, files }
  return { settings, catalog, files: [...files, ...spent.files], spending: spent }
}

/** Documents of limits, and the names of files with more of them. */
export interface LimitSources extends CatalogSources {
  readonly defaultsFiles?: readonly string[]
  readonly overridesFiles?: readonly string[]
  /** A file that may declare limits could not be read: what is not known here may be there. */
  readonly unread?: boolean
}

/** Undefined if there are mistakes. */
export const gatherCatalog = async (
  { defaultsFiles = [], overridesFiles = [], unread = false, ...sources }: LimitSources,
  mistakes: Gathering,
): Promise<Catalog | undefined> => {
  const trees = async (names: readonly string[]): Promise<readonly Node[]> => {
    const read = names.map((name) => mistakes.attemptLater(() => readTree(name)))
    return (await Promise.all(read)).filter((node) => node !== undefined)
  }
  const { defaults = [], overrides = [] } = sources
  const whole = {
    ...sources,
    defaults: [...defaults, ...(await trees(defaultsFiles))],
    overrides: [...overrides, ...(await trees(overridesFiles))],
  }
  try {
    return buildCatalog(whole)
  } catch (error) {
    const found = mistakesIn(error).filter(({ code }) => !unread || code !== 'LIMIT_UNKNOWN')
    for (const mistake of found) mistakes.keep(mistake)
    return undefined
  }
}

/** The settings that `next` changes and a running server keeps until a restart. */
export const waitingForRestart = (running: Configuration, next: Configuration): readonly string[] =>
  changedNames(keptBy(running), keptBy(next))

/** Of spending, the section as a whole needs a restart to come or go. */
const keptBy = ({ settings, spending }: Configuration): ReadonlyMap<string, unknown> =>
  new Map([
    ...keptValues(SERVER_SETTINGS, { ...settings, spending: spending !== undefined }),
    ...(spending?.kept ?? []),
  ])

/** One file as a tree. Missing or unreadable is a mistake that names it. */
export const readTree = async (file: string): Promise<Node> => {
  const source = await readFile(file, 'utf8').catch((error) => refuseUnreadable(file, error))
  return parseDocument(source, file)
}

/** Undefined if there is none, and none must be there. */
async function readConfigFile(
  file: string,
  mayBeMissing: boolean,
  mistakes: Gathering,
): Promise<ConfigFile | undefined> {
  const source = await readFile(file, 'utf8').catch((error) =>
    mayBeMissing && isMissing(error)
      ? undefined
      : mistakes.attempt(() => refuseUnreadable(file, error)),
  )
  if (source === undefined) return undefined
  return mistakes.attempt(() => readConfig(parseDocument(source, file), file, mistakes))
}

/** For failures of the system; a mistake inside the file passes as it is. */
function refuseUnreadable(file: string, error: unknown): never {
  if (!(error instanceof Error) || !('syscall' in error)) throw error
  const finding = isMissing(error) ? 'none there' : error.message
  const rule = 'must be a file that can be read'
  return refuseConfig({ code: 'CONFIG_FILE_UNREADABLE', thing: file, rule, finding }, error)
}

const isMissing = (error: unknown): boolean => systemCode(error) === 'ENOENT'

function refuseNotFound(): never {
  const rule =
    'must be headgate.yml in this folder, or files named by --config, --defaults or --overrides; --server asks a server instead'
  const finding = `none in ${resolve('.')}`
  return refuseConfig({ code: 'CONFIG_NOT_FOUND', thing: 'the configuration', rule, finding })
}

function refuseSpendingOnMemory(store: string): void {
  if (parseStoreUrl(store).kind !== 'memory') return
  refuseConfig({
    code: 'SPENDING_ON_MEMORY',
    thing: 'store',
    rule: 'must not forget what was spent; a test may allow it by spending.allowMemory: true',
    finding: store,
  })
}

function some<T>(...values: readonly (T | '' | undefined)[]): readonly T[] {
  return values.filter((value): value is T => value !== undefined && value !== '')
}
