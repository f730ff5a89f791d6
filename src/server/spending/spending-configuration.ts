/** What a server is told about spending: the section of headgate.yml, the HBAR_* variables, the plans. */
import { resolve } from 'node:path'
import type { Node } from '../../documents/index.ts'
import {
  buildPlanCatalog,
  type CompleteSettings,
  type ConfiguredPlans,
  completeSettings,
  loadPlans,
  type PlansSource,
  readSpendingEnvironment,
  readSpendingSection,
  type SettingsDraft,
} from '../../spending/index.ts'
import type { Environment } from '../options.ts'
import { type Sighting, sight } from '../sighting.ts'

export interface SpendingConfiguration extends Omit<CompleteSettings, 'plans'> {
  readonly plans: ConfiguredPlans
  /** The file of plans, there or not, as it was before it was read. */
  readonly files: readonly Sighting[]
}

export interface SpendingVoices {
  readonly section: Node | undefined
  readonly environment: Environment
  /** Of headgate.yml: names in it count from there. */
  readonly folder: string
}

/** Names in the environment count from the working directory, as they do for any program. */
export const loadSpending = async (voices: SpendingVoices): Promise<SpendingConfiguration> => {
  const { section, environment, folder } = voices
  const written: SettingsDraft =
    section === undefined
      ? {}
      : placed(readSpendingSection({ thing: 'spending', node: section }), folder)
  const complete = completeSettings(written, placed(readSpendingEnvironment(environment), '.'))
  const { plans: source, ...rest } = complete
  const files = source.kind === 'file' ? [sight(resolve(folder, source.path))] : []
  const plans = buildPlanCatalog(await loadPlans(source, folder))
  return { ...rest, plans, files }
}

/** What the section alone leads to. Whether it is complete, only the environment can tell. */
export const loadPlansOf = async (section: Node, folder: string): Promise<ConfiguredPlans> => {
  const { plans } = placed(readSpendingSection({ thing: 'spending', node: section }), folder)
  return buildPlanCatalog(plans === undefined ? [] : await loadPlans(plans, folder))
}

function placed(draft: SettingsDraft, folder: string): SettingsDraft {
  const { plans, queueFile } = draft
  return {
    ...draft,
    ...(plans !== undefined && { plans: placedSource(plans, folder) }),
    ...(queueFile !== undefined && { queueFile: resolve(folder, queueFile) }),
  }
}

const placedSource = (source: PlansSource, folder: string): PlansSource =>
  source.kind === 'file' ? { ...source, path: resolve(folder, source.path) } : source
