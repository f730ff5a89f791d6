/** What a server is told about spending: the section of headgate.yml, the HBAR_* variables, the plans. */
import { resolve } from 'node:path'
import { HeadgateError } from '../../core/index.ts'
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
  const spoken = placed(readSpendingEnvironment(environment), '.')
  const complete = within(section, () => completeSettings(written, spoken))
  const { plans: source, ...rest } = complete
  const files = source.kind === 'file' ? [sight(resolve(folder, source.path))] : []
  const plans = buildPlanCatalog(await loadPlans(source, folder))
  return { ...rest, plans, files }
}

/** What is wrong with the whole is told where the section says it, or where the section is. */
function within<T>(section: Node | undefined, complete: () => T): T {
  try {
    return complete()
  } catch (error) {
    if (!(error instanceof HeadgateError) || section === undefined) throw error
    const { code, thing, rule, finding } = error
    const entries = section.kind === 'map' ? section.entries : []
    const { at } = entries.find(({ key }) => key === thing)?.value ?? section
    throw new HeadgateError({ code, thing, rule, finding, at }, { cause: error })
  }
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
