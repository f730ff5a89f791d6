/** Real servers of the kinds that stores live on: one of each for a whole run, or one of a test's own. */
import { inject, onTestFinished, TestRunner } from 'vitest'
import { openServices, type Service, type ServiceKind } from '../../scripts/services.js'

/** The one that all files of a run share; undefined where it cannot be had, which is printed. */
export const sharedUrl = async (kind: ServiceKind): Promise<string | undefined> => {
  const answer = await fetch(`${inject('services')}/${kind}`)
  const { url, skipped }: Readonly<Record<string, string>> = JSON.parse(await answer.text())
  if (url !== undefined) return url
  console.log(`headgate: the tests on ${kind} are skipped: ${skipped}`)
  return undefined
}

/** One that the test may kill. Only where the shared one could be had. */
export const ownService = async (
  kind: ServiceKind,
  settings: readonly string[] = [],
): Promise<Service> => {
  const services = openServices()
  if (TestRunner.getCurrentTest() === undefined) throw new Error('a service belongs to a test')
  onTestFinished(() => services.stop())
  const found = await services.start(kind, settings)
  if ('skipped' in found) throw new Error(found.skipped)
  return found
}
