/** The configuration of spending: the section of headgate.yml, the HBAR_* variables, and the plans; and what the log says of it. */
import { resolve } from 'node:path'
import { HeadgateError } from '../../core/errors.ts'
import type { Node } from '../../documents/node.ts'
import type { Environment } from '../../documents/settings/reader.ts'
import { variablesOf } from '../../documents/settings/reference.ts'
import { keptValues } from '../../documents/settings/restart.ts'
import { type FileSnapshot, snapshotFile } from '../../lib/follow-files.ts'
import type { CompleteSettings, ConfiguredPlans } from '../../spending/index.ts'
import type { Log } from '../app/log.ts'

export interface SpendingConfiguration extends Omit<CompleteSettings, 'plans'> {
  readonly plans: ConfiguredPlans
  /** The file of plans, there or not, as it was before it was read. */
  readonly files: readonly FileSnapshot[]
  /** What a running server keeps until a restart, by name. */
  readonly kept: ReadonlyMap<string, unknown>
}

interface SpendingSources {
  readonly section: Node | undefined
  readonly environment: Environment
  /** Of headgate.yml: file names in it count from there. */
  readonly folder: string
}

/**
 * Undefined where nothing configures spending. File names in the environment count from the working
 * directory, as they do for any program.
 */
export const loadSpending = async (
  sources: SpendingSources,
): Promise<SpendingConfiguration | undefined> => {
  const { section, environment, folder } = sources
  // Before anything of spending is loaded, which takes longer than all of this.
  if (section === undefined && !Object.keys(environment).some(isRelayVariable)) return undefined
  const door = await import('../../spending/index.ts')
  const { SPENDING_SETTINGS } = await import('../../spending/settings/table.ts')
  const isSet = (name: string): boolean => (environment[name] ?? '').trim() !== ''
  if (section === undefined && !variablesOf(SPENDING_SETTINGS).some(isSet)) return undefined
  const file = section && door.readSpendingSection({ thing: 'spending', node: section }, folder)
  const variables = door.readSpendingEnvironment(environment, '.')
  const { plans, ...rest } = within(section, () => door.completeSettings(file ?? {}, variables))
  const files = plans.kind === 'file' ? [snapshotFile(resolve(folder, plans.path))] : []
  return {
    ...rest,
    plans: door.buildPlanCatalog(await door.loadPlans(plans, folder)),
    files,
    kept: keptValues(SPENDING_SETTINGS, rest.values, 'spending.'),
  }
}

const isRelayVariable = (name: string): boolean => name.startsWith('HBAR_')

/** A mistake of the settings together gets the position of the key it names, or of the section. */
function within<T>(section: Node | undefined, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof HeadgateError) || section === undefined) throw error
    const { code, thing, rule, finding } = error
    const entries = section.kind === 'map' ? section.entries : []
    const { at } = entries.find(({ key }) => key === thing)?.value ?? section
    throw new HeadgateError({ code, thing, rule, finding, at }, { cause: error })
  }
}

/** More lines than this would hide what else a start has to say. */
const MAX_PLANS_LOGGED = 100

export const logPlans = (log: Log, { plans }: SpendingConfiguration): void => {
  const { entries } = plans
  for (const { plan } of entries.slice(0, MAX_PLANS_LOGGED)) {
    const { id, name, tier } = plan
    log.info({ id, name, tier }, 'spending plan')
  }
  const more = entries.length - MAX_PLANS_LOGGED
  if (more > 0) log.info({ more }, 'more spending plans: headgate plans list has them all')
}

export const logWarnings = (log: Log, { warnings }: SpendingConfiguration): void => {
  for (const warning of warnings) log.warn({}, `spending: ${warning}`)
}
