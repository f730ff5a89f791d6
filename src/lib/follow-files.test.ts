import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { configFolder } from '../../test/support/config-folder.ts'
import { followFiles, snapshotFile } from './follow-files.ts'

/** Follows files for the length of a test; `change()` resolves at the next change. */
const following = (...files: readonly string[]) => {
  let changes = 0
  let wake = (): void => {}
  const watcher = followFiles(() => {
    changes += 1
    wake()
  })
  onTestFinished(() => watcher.close())
  watcher.follow(files.map(snapshotFile))
  let awaited = 0
  const change = async (): Promise<void> => {
    while (changes === awaited) await new Promise<void>((resolve) => (wake = resolve))
    awaited = changes
  }
  return { change, count: () => changes, watcher }
}

test('a file that is written, replaced, removed or created again is noticed', async () => {
  const { path, write } = configFolder({ 'a.yml': 'one' })
  const file = join(path, 'a.yml')
  const { change } = following(file)
  write('a.yml', 'two')
  await change()
  renameSync(write('a.yml.new', 'three'), file)
  await change()
  rmSync(file)
  await change()
  write('a.yml', 'four')
  await change()
})

test('a link that is swapped is noticed, as Kubernetes does it with mounted configuration', async () => {
  const { path } = configFolder()
  for (const version of ['..1', '..2']) {
    mkdirSync(join(path, version))
    configFile(join(path, version), version)
  }
  symlinkSync('..1', join(path, '..data'))
  symlinkSync('..data/a.yml', join(path, 'a.yml'))
  const { change } = following(join(path, 'a.yml'))
  symlinkSync('..2', join(path, '..data_tmp'))
  renameSync(join(path, '..data_tmp'), join(path, '..data'))
  await change()
})

test('the target of a link elsewhere is noticed too, by looking', async () => {
  const elsewhere = configFolder({ 'real.yml': 'one' })
  const { path } = configFolder()
  symlinkSync(join(elsewhere.path, 'real.yml'), join(path, 'a.yml'))
  const { change } = following(join(path, 'a.yml'))
  elsewhere.write('real.yml', 'two')
  await change()
})

test('what changed before it was followed, but after its snapshot, is a change', async () => {
  const { path, write } = configFolder({ 'a.yml': 'one' })
  const seen = snapshotFile(join(path, 'a.yml'))
  const { change, watcher } = following()
  write('a.yml', 'another length')
  watcher.follow([seen])
  await change()
})

test('other files in the folder do not count', async () => {
  const { path, write } = configFolder({ 'a.yml': 'one', 'b.yml': 'one' })
  const { change, count } = following(join(path, 'a.yml'))
  write('headgate.db-wal', 'busy')
  write('b.yml', 'two')
  write('a.yml', 'two')
  await change()
  expect(count()).toBe(1)
})

function configFile(folder: string, text: string): void {
  renameSync(configFolder().write('a.yml', text), join(folder, 'a.yml'))
}
