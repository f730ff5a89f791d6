/** Every example runs, and prints what its readers are promised. */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ROOT } from '../support/sources.ts'

const examples = readdirSync(`${ROOT}examples`).filter((name) => name.endsWith('.js'))

for (const name of examples) {
  test(name, () => {
    const printed = execFileSync(process.execPath, [`${ROOT}examples/${name}`], {
      encoding: 'utf8',
    })
    expect(printed).toMatchSnapshot()
  })
}
