/** Checks documents as the server would read them: together, and a mistake in one hides none in another. */
import { dirname, resolve } from 'node:path'
import { HeadgateError, type ThrowMistake, throwMistake } from '../../core/errors.ts'
import { type Gathering, gathering, mistakesIn } from '../../documents/mistakes.ts'
import type { Node } from '../../documents/node.ts'
import type { Environment } from '../../documents/settings/reader.ts'
import { fileKeysOf } from '../../documents/settings/table.ts'
import type { IdPolicy } from '../../requests/catalog/documents.ts'
import type { CatalogWarning } from '../../requests/catalog/rate.ts'
import { loadSpending } from '../spending/config.ts'
import { gatherCatalog, type LimitSources, readTree } from './configuration.ts'
import { readOptions } from './options.ts'
import { type FlagTexts, readConfig, SERVER_SETTINGS } from './settings.ts'

export const DOCUMENT_KINDS = ['config', 'defaults', 'overrides'] as const
type DocumentKind = (typeof DOCUMENT_KINDS)[number]

type LintErrorCode = 'DOCUMENT_KIND_UNKNOWN'

const refuseKind: ThrowMistake<LintErrorCode> = throwMistake

export interface LintFinding {
  readonly level: 'error' | 'warning'
  readonly mistake: HeadgateError
}

interface LintOptions {
  /** Told from the content unless given. */
  readonly kind: DocumentKind | undefined
  /** Of these only what a command of this name takes: `--skip-unmatchable`. */
  readonly flags: FlagTexts
  /** What a server would read beside the files: a total and tiers may come from there. */
  readonly environment: Environment
}

/** Every mistake of every file, in the order of files and lines; every warning, if there is none. */
export const lintFiles = async (
  files: readonly string[],
  options: LintOptions,
): Promise<readonly LintFinding[]> => {
  try {
    const warnings = await readTogether(files, options)
    return warnings.map((warning) => ({ level: 'warning', mistake: new HeadgateError(warning) }))
  } catch (error) {
    const mistakes = [...mistakesIn(error)].sort(byPlace(files))
    return mistakes.map((mistake) => ({ level: 'error', mistake }))
  }
}

/** As one server would: what one file declares, the others may use. */
async function readTogether(
  files: readonly string[],
  { kind, flags, environment }: LintOptions,
): Promise<readonly CatalogWarning[]> {
  const mistakes = gathering()
  const parts: LimitSources[] = []
  for (const file of files) {
    const part = await mistakes.attemptLater(async () => {
      const tree = await readTree(file)
      return sourcesOf({ tree, file, environment, mistakes }, kind ?? kindOf(tree))
    })
    parts.push(part ?? { unread: true })
  }
  const given = mistakes.attempt(() => readOptions(SWITCHES, { flags, environment }))
  const catalog = await gatherCatalog(together(parts, given?.skipUnmatchable), mistakes)
  mistakes.end()
  return catalog?.warnings ?? []
}

const SWITCHES = { skipUnmatchable: SERVER_SETTINGS.skipUnmatchable }

/** What a headgate.yml names comes after the files that were given; what has no place, first. */
function byPlace(files: readonly string[]) {
  const rank = ({ at }: HeadgateError): readonly number[] => {
    if (at === undefined) return [-1, 0, 0]
    const given = files.indexOf(at.file)
    return [given < 0 ? files.length : given, at.line, at.column]
  }
  return (a: HeadgateError, b: HeadgateError): number => {
    const [ours, theirs] = [rank(a), rank(b)]
    const differ = ours.findIndex((value, i) => value !== theirs[i])
    return (ours[differ] ?? 0) - (theirs[differ] ?? 0)
  }
}

/** A list can only be overrides. A map with a key of headgate.yml is one; others are defaults. */
function kindOf(document: Node): DocumentKind {
  switch (document.kind) {
    case 'list':
      return 'overrides'
    case 'map': {
      const known: ReadonlySet<string> = new Set(fileKeysOf(SERVER_SETTINGS))
      return document.entries.some(({ key }) => known.has(key)) ? 'config' : 'defaults'
    }
    case 'scalar': {
      const rule = 'must be a map (headgate.yml, defaults) or a list (overrides)'
      const { at } = document
      const finding = 'a single value'
      return refuseKind({ code: 'DOCUMENT_KIND_UNKNOWN', thing: 'the document', rule, finding, at })
    }
    default:
      return document satisfies never
  }
}

interface Document {
  readonly tree: Node
  readonly file: string
  readonly environment: Environment
  readonly mistakes: Gathering
}

async function sourcesOf(document: Document, kind: DocumentKind): Promise<LimitSources> {
  const { tree } = document
  switch (kind) {
    case 'defaults':
      return { defaults: [tree] }
    case 'overrides':
      return { overrides: [tree] }
    case 'config':
      return configSources(document)
    default:
      return kind satisfies never
  }
}

/** What a headgate.yml brings to the catalog, with the files that it names. */
async function configSources(document: Document): Promise<LimitSources> {
  const { tree, file, environment, mistakes } = document
  const config = readConfig(tree, file, mistakes)
  const { limits, overrides, spending: section, defaultsFile, overridesFile } = config
  if (section !== undefined) {
    // As the server would read it, the file of plans and the variables included.
    const folder = dirname(resolve(file))
    await mistakes.attemptLater(() => loadSpending({ section, environment, folder }))
  }
  return {
    limits: limits === undefined ? [] : [limits],
    overrides: overrides === undefined ? [] : [overrides],
    defaultsFiles: defaultsFile === undefined ? [] : [defaultsFile],
    overridesFiles: overridesFile === undefined ? [] : [overridesFile],
    policy: {
      refuseReserved: config.refuseReserved === true,
      skipUnmatchable: config.skipUnmatchable === true,
    },
  }
}

function together(parts: readonly LimitSources[], skip: boolean | undefined): LimitSources {
  const isOn = (name: keyof IdPolicy) => parts.some(({ policy }) => policy?.[name] === true)
  return {
    limits: parts.flatMap(({ limits = [] }) => limits),
    defaults: parts.flatMap(({ defaults = [] }) => defaults),
    defaultsFiles: parts.flatMap(({ defaultsFiles = [] }) => defaultsFiles),
    overrides: parts.flatMap(({ overrides = [] }) => overrides),
    overridesFiles: parts.flatMap(({ overridesFiles = [] }) => overridesFiles),
    policy: {
      refuseReserved: isOn('refuseReserved'),
      skipUnmatchable: skip ?? isOn('skipUnmatchable'),
    },
    unread: parts.some(({ unread }) => unread === true),
  }
}
