import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { scratchFile } from '../../../test/support/scratch-file.ts'
import { ownerOf, takeQueueLock, writeOwner } from './queue-lock.ts'

const take = async (path: string) => {
  const lock = await takeQueueLock(path)
  onTestFinished(() => lock.release())
  return lock
}

/** A process that waits until it is ended. */
const startOther = async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'])
  await once(child, 'spawn')
  const kill = async () => {
    const ended = once(child, 'exit')
    if (child.kill('SIGKILL')) await ended
  }
  onTestFinished(kill)
  return { pid: child.pid ?? 0, kill }
}

test('one owner at a time, until it lets go', async () => {
  const path = scratchFile('queue')
  const first = await take(path)
  await expect(take(path)).rejects.toMatchObject({
    code: 'QUEUE_IN_USE',
    rule: `must be open in one process: ${path}`,
    finding: `process ${process.pid} has it`,
  })
  await first.release()
  expect(existsSync(`${path}.lock`)).toBe(false)
  await take(path)
})

test('a process that lives keeps its lock; once it is killed the lock needs no clearing', async () => {
  const path = scratchFile('queue')
  const other = await startOther()
  writeFileSync(`${path}.lock`, writeOwner(await ownerOf(other.pid)))
  await expect(take(path)).rejects.toMatchObject({
    code: 'QUEUE_IN_USE',
    finding: `process ${other.pid} has it`,
  })
  await other.kill()
  await take(path)
  expect(readFileSync(`${path}.lock`, 'utf8')).toMatch(new RegExp(`^${process.pid} `))
})

test.runIf(process.platform === 'linux')(
  'a number that was given to another process since is not its owner',
  async () => {
    const path = scratchFile('queue')
    const { pid } = await startOther()
    writeFileSync(`${path}.lock`, writeOwner({ pid, started: '1' }))
    await take(path)
  },
)

test.each([
  ['our own number, of a process before us', `${process.pid} 1\n`],
  ['nothing', ''],
  ['something else', 'hello\n'],
])('a lock that holds %s is left over', async (_, text) => {
  const path = scratchFile('queue')
  writeFileSync(`${path}.lock`, text)
  await take(path)
})

test('of several who find a lock left over, one gets it', async () => {
  const path = scratchFile('queue')
  writeFileSync(`${path}.lock`, '')
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => take(path)))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})
