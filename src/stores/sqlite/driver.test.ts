import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { ROOT } from '../../../test/support/sources.ts'
import { DRIVER_NAME } from './driver.ts'

test("the driver is Node's own where Node has one, else the packaged one", () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const hasOne = major > 22 || (major === 22 && minor >= 13)
  expect(DRIVER_NAME).toBe(hasOne ? 'node:sqlite' : '@photostructure/sqlite')
})

test('opening a store writes no warning to stderr, where servers log lines of JSON', async () => {
  const script = `
    import { sqlite } from '${ROOT}dist/stores/sqlite/index.js'
    const store = sqlite({ path: process.argv[1] })
    await store.transact(() => ({ writes: [{ key: 'a', value: '1' }], appends: [], result: 0 }))
    await store.close()
    process.emitWarning('one of its own')`
  const args = ['--input-type=module', '--eval', script, scratchFile()]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toBe('')
  // Its own warning still arrives: only that of the driver was dropped.
  expect(stderr.match(/Warning:.*/g)).toEqual(['Warning: one of its own'])
})
