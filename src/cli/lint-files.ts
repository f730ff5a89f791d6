/** Checks files one by one, so that a mistake in one hides none in another, and then together. */
import { dirname, resolve } from 'node:path'
import { HeadgateError } from '../core/index.ts'
import type { Node } from '../documents/index.ts'
import { buildCatalog, type CatalogSources } from '../requests/index.ts'
import { type ConfigFile, readConfig } from '../server/config-file.ts'
import { readTree } from '../server/configuration.ts'
import type { Environment } from '../server/options.ts'
import { type DocumentKind, kindOf } from './document-kind.ts'

export interface Finding {
  readonly level: 'error' | 'warning'
  readonly mistake: HeadgateError
}

export interface Manner {
  /** Told from the content unless given. */
  readonly kind: DocumentKind | undefined
  /** What the server would hear beside the files: a total and tiers may come from there. */
  readonly environment: Environment
}

/** The first mistake of each file, and every warning of those that hold none. */
export const lintFiles = async (
  files: readonly string[],
  manner: Manner,
): Promise<readonly Finding[]> => {
  const read = await Promise.all(files.map((file) => open(file, manner)))
  const parts = read.flatMap((outcome) => ('error' in outcome ? [] : [outcome]))
  const findings = read.flatMap((outcome) => ('error' in outcome ? [toError(outcome.error)] : []))
  // What one file declares, the others may use.
  const limits = parts.flatMap((part) => part.limits ?? [])
  // A file by itself is all that there is together.
  const several = files.length > 1 ? parts : []
  const alone = several
    .flatMap((part) => mistakesOf({ ...part, limits }))
    // Perhaps declared in a file that could not be read.
    .filter(({ mistake }) => findings.length === 0 || mistake.code !== 'LIMIT_UNKNOWN')
  const errors = distinct([...findings, ...alone])
  if (errors.length > 0) return errors
  return check(together(parts))
}

/** What a file brings to the catalog, the files that a headgate.yml names included. */
async function open(
  file: string,
  { kind, environment }: Manner,
): Promise<CatalogSources | { readonly error: HeadgateError }> {
  try {
    const tree = await readTree(file)
    return await sourcesOf({ tree, file, environment }, kind ?? kindOf(tree))
  } catch (error) {
    return { error: mistakeIn(error) }
  }
}

interface Document {
  readonly tree: Node
  readonly file: string
  readonly environment: Environment
}

async function sourcesOf(document: Document, kind: DocumentKind): Promise<CatalogSources> {
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

async function configSources(document: Document): Promise<CatalogSources> {
  const config = readConfig(document.tree, document.file)
  await checkSpending(config, document)
  const { limits, overrides, defaultsFile, overridesFile, refuseReserved = false } = config
  return {
    limits: limits === undefined ? [] : [limits],
    defaults: defaultsFile === undefined ? [] : [await readTree(defaultsFile)],
    overrides: [
      ...(overrides === undefined ? [] : [overrides]),
      ...(overridesFile === undefined ? [] : [await readTree(overridesFile)]),
    ],
    policy: { refuseReserved },
  }
}

/** As the server would read it, the file of plans and the variables included. */
async function checkSpending(config: ConfigFile, document: Document): Promise<void> {
  const { spending: section } = config
  if (section === undefined) return
  const { file, environment } = document
  const { loadSpending } = await import('../server/spending/spending-configuration.ts')
  await loadSpending({ section, environment, folder: dirname(resolve(file)) })
}

function together(parts: readonly CatalogSources[]): CatalogSources {
  return {
    limits: parts.flatMap(({ limits = [] }) => limits),
    defaults: parts.flatMap(({ defaults = [] }) => defaults),
    overrides: parts.flatMap(({ overrides = [] }) => overrides),
    policy: { refuseReserved: parts.some(({ policy }) => policy?.refuseReserved === true) },
  }
}

const mistakesOf = (sources: CatalogSources): readonly Finding[] =>
  check(sources).filter(({ level }) => level === 'error')

function check(sources: CatalogSources): readonly Finding[] {
  try {
    const { warnings } = buildCatalog(sources)
    return warnings.map((warning) => ({ level: 'warning', mistake: new HeadgateError(warning) }))
  } catch (error) {
    return [toError(mistakeIn(error))]
  }
}

const toError = (mistake: HeadgateError): Finding => ({ level: 'error', mistake })

function mistakeIn(error: unknown): HeadgateError {
  if (error instanceof HeadgateError) return error
  throw error
}

/** A bad declaration shows in every file that is checked with it. */
function distinct(findings: readonly Finding[]): readonly Finding[] {
  const byText = new Map(findings.map((finding) => [finding.mistake.message, finding]))
  return [...byText.values()]
}
