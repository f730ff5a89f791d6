import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testsIn } from '../../scripts/tests.js'
import { temporaryFolder } from '../support/folder.ts'

test('the tests to prove are found though a package links back to the project', () => {
  const root = temporaryFolder()
  mkdirSync(join(root, 'interop/node_modules/peer'), { recursive: true })
  writeFileSync(join(root, 'one.test.ts'), '')
  writeFileSync(join(root, 'helper.ts'), '')
  writeFileSync(join(root, 'interop/two.test.ts'), '')
  writeFileSync(join(root, 'interop/node_modules/peer/theirs.test.ts'), '')
  symlinkSync(root, join(root, 'interop/node_modules/headgate'))
  symlinkSync(root, join(root, 'interop/again'))
  expect(testsIn(`${root}/`)).toEqual([`${root}/interop/two.test.ts`, `${root}/one.test.ts`])
})
