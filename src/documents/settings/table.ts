/**
 * A table of settings: each line is one setting, and says how it is read, its default, its flag, its
 * variable, whether a reload changes it, and what it means. Everything else follows from the line:
 * the type of the settings, the keys a file may hold, help, JSON Schema and the pages of the reference.
 */
import { HeadgateError } from '../../core/errors.ts'
import { type Field, gatherFields, refuseMissing } from '../field.ts'
import { type Gathering, gathering } from '../mistakes.ts'
import type { Environment, GivenText, Reader, ReaderContext, TextReader } from './reader.ts'
import { schemaOf } from './schema.ts'

interface SettingFacts<T> {
  /** Absent: the setting may be missing. */
  readonly default?: T
  /** What holds while it is missing, in words: `none` if not said. */
  readonly unset?: string
  /** It must be given, and has no default. */
  readonly required?: true
  /** No key of the file. */
  readonly inFile?: false
  /** A reload changes it in a running server. Without this a change needs a restart. */
  readonly reloads?: true
  /** For the reference, for editors and for help. */
  readonly sentence: string
}

export type Setting<T = unknown> =
  | (SettingFacts<T> & {
      readonly reader: TextReader<T>
      /** Its name and a placeholder for its value: `port PORT`. Without a placeholder it is a switch. */
      readonly flag?: string
      readonly variable?: string
    })
  | (SettingFacts<T> & {
      readonly reader: Reader<T>
      readonly flag?: undefined
      readonly variable?: undefined
    })

/** Settings under one key: each has its own default, and each source may give some of them. */
export interface Section<T extends SettingsTable = SettingsTable> {
  readonly section: T
  /** The key that is meant where the file holds a single value instead of a map. */
  readonly short?: string
  /** The keys that a map in the file must hold. */
  readonly needs?: readonly string[]
  readonly sentence?: string
  /** Rules between keys of one document. */
  check?(field: Field, given: Given<T>): void
}

export type SettingsTable = { readonly [key: string]: Setting | Section }

/** The settings of a table, whole. */
export type SettingsOf<T extends SettingsTable> = Flat<
  { readonly [K in keyof T as IsAlways<T[K]> extends true ? K : never]: ValueOf<T[K]> } & {
    readonly [K in keyof T as IsAlways<T[K]> extends true ? never : K]?: NonNullable<ValueOf<T[K]>>
  }
>

/** Settings as far as one source gives them. */
export type Given<T extends SettingsTable> = {
  readonly [K in keyof T]?:
    | (T[K] extends { readonly section: infer Inner extends SettingsTable }
        ? Given<Inner>
        : ValueOf<T[K]>)
    | undefined
}

/** The names of a table's flags. */
export type FlagOf<T extends SettingsTable> = {
  [K in keyof T]: T[K] extends { readonly flag: infer Flag extends string }
    ? Flag extends `${infer Name} ${string}`
      ? Name
      : Flag
    : never
}[keyof T]

type ValueOf<S> = S extends { readonly section: infer Inner extends SettingsTable }
  ? SettingsOf<Inner>
  : S extends { readonly reader: Reader<infer T> }
    ? T
    : never

type IsAlways<S> = S extends
  | { readonly default: unknown }
  | { readonly required: true }
  | { readonly section: unknown }
  ? true
  : false

type Flat<T> = { [K in keyof T]: T[K] }

/** A default that its reader could not have read does not compile. */
type DefaultsFit<T extends SettingsTable> = {
  readonly [K in keyof T]: T[K] extends { readonly default: unknown }
    ? { readonly default: ValueOf<T[K]> }
    : unknown
}

export const settingsTable = <const T extends SettingsTable>(table: T & DefaultsFit<T>): T => table

/** The keys that a document may hold. */
export const fileKeysOf = (table: SettingsTable): readonly string[] =>
  Object.entries(table).flatMap(([key, entry]) => ('inFile' in entry ? [] : [key]))

export interface DocumentOptions extends ReaderContext {
  /** How messages name a key; unless given, after the map that holds it. */
  readonly nameOf?: (key: string) => string
  /** Keeps the mistakes, and what can be read is given back. Without it all are thrown together. */
  readonly mistakes?: Gathering
}

export const fromDocument = <T extends SettingsTable>(
  table: T,
  field: Field,
  options: DocumentOptions = {},
): Given<T> => {
  const { nameOf = (key) => `${field.thing}.${key}`, mistakes = gathering(), ...context } = options
  const keys = fileKeysOf(table)
  const shape = {
    required: keys.filter((key) => isRequired(table[key])),
    optional: keys.filter((key) => !isRequired(table[key])),
  }
  const fields: Readonly<Record<string, Field | undefined>> = gatherFields(field, shape, mistakes)
  const given: Record<string, unknown> = {}
  for (const key of keys) {
    const [entry, found] = [table[key], fields[key]]
    if (entry === undefined || found === undefined) continue
    const named = { ...found, thing: nameOf(key) }
    const value = mistakes.attempt(() => readEntry(entry, named, context))
    if (value !== undefined) given[key] = value
  }
  if (options.mistakes === undefined) mistakes.end()
  return given as Given<T>
}

function readEntry(entry: Setting | Section, field: Field, context: ReaderContext): unknown {
  if (!isSection(entry)) return entry.reader.fromField(field, context)
  const { section, short } = entry
  const inner = short === undefined ? undefined : section[short]
  if (short !== undefined && inner !== undefined && field.node.kind === 'scalar') {
    return { [short]: readEntry(inner, field, context) }
  }
  const given = fromDocument(section, field, context)
  for (const key of entry.needs ?? []) if (given[key] === undefined) refuseMissing(field, key)
  entry.check?.(field, given)
  return given
}

/** A reader of settings that are absent or whole: what the map does not hold has its default. */
export const record = <T extends SettingsTable>(table: T): Reader<SettingsOf<T>> => ({
  fromField: (field, context) => complete(table, fromDocument(table, field, context)),
  ...schemaOf(table),
  keys: table,
})

/** Texts by the names of their flags and variables. */
export interface TextSources {
  readonly flags?: Readonly<Record<string, string | undefined>> | undefined
  readonly environment?: Environment | undefined
}

interface TextRules {
  /** The code of what is refused, and of a required setting that is absent. */
  readonly code: string
  /** Where relative file names start; absent: they stay as written. */
  readonly folder?: string
}

/** Flags win over variables. Throws all mistakes together. */
export const fromTexts = <T extends SettingsTable>(
  table: T,
  sources: TextSources,
  rules: TextRules,
): Given<T> => {
  const mistakes = gathering()
  const given: Record<string, unknown> = {}
  for (const [key, entry] of Object.entries(table)) {
    const value = mistakes.attempt(() =>
      isSection(entry)
        ? unlessEmpty(fromTexts(entry.section, sources, rules))
        : readTexts(entry, sources, rules),
    )
    if (value !== undefined) given[key] = value
  }
  mistakes.end()
  return given as Given<T>
}

const unlessEmpty = (given: object): object | undefined =>
  Object.keys(given).length === 0 ? undefined : given

function readTexts(setting: Setting, sources: TextSources, rules: TextRules): unknown {
  const { reader, required } = setting
  const { environment = {} } = sources
  const text = findText(setting, sources, rules)
  if (text !== undefined && 'fromText' in reader) {
    return reader.fromText(text, { ...rules, environment })
  }
  return required ? refuseAbsent(setting, rules) : undefined
}

/** The text that is given for a setting, under the name it was given by. */
export const findText = (
  setting: Setting,
  { flags = {}, environment = {} }: TextSources,
  { code }: TextRules,
): GivenText | undefined => {
  const { variable = '' } = setting
  const name = flagNameOf(setting)
  const [flag, value] = [flags[name], environment[variable]]
  if (flag !== undefined) return { text: flag, thing: `--${name}`, code }
  return value === undefined ? undefined : { text: value, thing: variable, code }
}

function refuseAbsent(setting: Setting, { code }: TextRules): never {
  const { variable } = setting
  const rule = variable === undefined ? 'must be given' : `must be given, here or as ${variable}`
  throw new HeadgateError({ code, thing: `--${flagNameOf(setting)}`, rule, finding: 'nothing' })
}

/** `port`, of `port PORT`; empty if there is none. */
export const flagNameOf = ({ flag = '' }: Setting): string => flag.split(' ')[0] ?? ''

/** Later sources win, key by key; what none gives has its default. */
export const complete = <T extends SettingsTable>(
  table: T,
  ...sources: readonly Given<T>[]
): SettingsOf<T> => {
  const whole: Record<string, unknown> = {}
  for (const [key, entry] of Object.entries(table)) {
    const given = sources.map((source) => source[key]).filter((value) => value !== undefined)
    const value = isSection(entry)
      ? complete(entry.section, ...(given as Given<SettingsTable>[]))
      : (given.at(-1) ?? entry.default)
    if (value !== undefined) whole[key] = value
  }
  return whole as SettingsOf<T>
}

export const isSection = (entry: Setting | Section): entry is Section => 'section' in entry

const isRequired = (entry: Setting | Section | undefined): boolean =>
  entry !== undefined && !isSection(entry) && entry.required === true
