/** What the tables of settings yield is what docs/reference holds. `npm run reference` writes it. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { configSchema, withTables } from '../support/config-reference.ts'
import { ROOT } from '../support/sources.ts'

test('in the JSON Schema', async () => {
  await expect(configSchema()).toMatchFileSnapshot(`${ROOT}docs/reference/headgate.schema.json`)
})

test('in the tables of the page', async () => {
  const file = `${ROOT}docs/reference/config.md`
  const page = readFileSync(file, 'utf8')
  expect(page.match(/<!-- settings: \w+ -->/g)).toHaveLength(4)
  await expect(withTables(page)).toMatchFileSnapshot(file)
})
