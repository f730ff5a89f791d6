/** A block that is added through one server takes effect on another. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { generateIdentity } from '../../src/subjects/index.ts'
import { startChild } from '../support/child.ts'
import { temporaryFolder } from '../support/folder.ts'
import { stage } from '../support/ucan.ts'

test('two processes on one SQLite file: a block and its end reach the other server', async () => {
  const path = join(temporaryFolder(), 'headgate.db')
  const store = sqlite({ path })
  const identity = generateIdentity()
  const { ask, owner: by } = await stage({ store, identity })
  const other = startChild('test/faults/children/gatekeeper.js', [path, identity.did, 'x@a.test'])
  expect(await other.line()).toBe('clear')
  const added = await ask({ can: 'rate-limit/add', nb: { subject: 'A.test', rate: 0 }, by })
  expect(await other.line()).toBe('blocked')
  await ask({ can: 'rate-limit/remove', nb: { id: added.ok?.['id'] }, by })
  expect(await other.line()).toBe('clear')
  await other.kill('SIGKILL')
  await store.close()
})
