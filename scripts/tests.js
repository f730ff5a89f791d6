/** The test files of the project: our own, never those of an installed package. */
import { readdirSync } from 'node:fs'

/**
 * Paths below `folder`, which ends with a slash. Links are not followed: the folders of test/interop
 * install Headgate itself as one, and a walk along it would not end.
 */
export const testsIn = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory())
      return entry.name === 'node_modules' ? [] : testsIn(`${folder}${entry.name}/`)
    return entry.isFile() && entry.name.endsWith('.test.ts') ? [`${folder}${entry.name}`] : []
  })
