/**
 * A lock file beside a queue that names the process that owns it. A process that ended, however it
 * did, owns nothing: its lock is taken over. Processes of other machines or containers are not seen.
 */
import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { HeadgateError, systemCode } from '../../core/errors.ts'
import { queueMistake } from './queue-log.ts'

interface QueueLock {
  release(): Promise<void>
}

/** Each try finds another lock that was left behind, or released a moment ago. */
const MAX_TRIES = 10

/** Of this process: its own number in a file does not tell which queue in it has the lock. */
const held = new Set<string>()

export const takeQueueLock = async (path: string): Promise<QueueLock> => {
  const file = `${resolve(path)}.lock`
  if (held.has(file)) throw inUse(path, process.pid)
  held.add(file)
  try {
    const text = writeOwner(await ownerOf(process.pid))
    await take(file, path, text)
    return { release: () => release(file, text) }
  } catch (error) {
    held.delete(file)
    if (error instanceof HeadgateError) throw error
    throw queueMistake('QUEUE_UNAVAILABLE', `must lock ${path}`, String(error), error)
  }
}

async function take(file: string, path: string, text: string): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (await place(file, text)) return
    const found = await readIfThere(file)
    if (found === undefined) continue
    const owner = readOwner(found)
    if (owner !== undefined && (await isOther(owner))) throw inUse(path, owner.pid)
    await remove(file, found)
  }
  throw queueMistake('QUEUE_UNAVAILABLE', `must lock ${path}`, `${MAX_TRIES} other attempts`)
}

/** Linked when it is written: at no moment is there a lock that does not say whose it is. */
async function place(file: string, text: string): Promise<boolean> {
  const beside = `${file}.${randomUUID()}`
  try {
    await writeFile(beside, text, { mode: 0o600, flag: 'wx' })
    await link(beside, file)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  } finally {
    await rm(beside, { force: true })
  }
}

/** With our own number, it is of a process that had it before us: `held` knows ours. */
const isOther = async (owner: LockOwner): Promise<boolean> =>
  owner.pid !== process.pid && (await isAlive(owner))

/** Moved away first, so that of several who find the same lock one removes it; a newer one is put back. */
async function remove(file: string, found: string): Promise<void> {
  const away = `${file}.${randomUUID()}`
  try {
    await rename(file, away)
    if ((await readFile(away, 'utf8')) !== found) await link(away, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(systemCode(error))) throw error
  } finally {
    await rm(away, { force: true })
  }
}

async function release(file: string, text: string): Promise<void> {
  if ((await readIfThere(file)) === text) await rm(file, { force: true })
  held.delete(file)
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

const inUse = (path: string, pid: number) =>
  queueMistake('QUEUE_IN_USE', `must be open in one process: ${path}`, `process ${pid} has it`)

/** A process as its lock names it: by number and, where the system tells, by when it started. */
interface LockOwner {
  readonly pid: number
  /** In the system's own count; numbers of processes are used again, these two together are not. */
  readonly started?: string | undefined
}

export const ownerOf = async (pid: number): Promise<LockOwner> => ({
  pid,
  started: (await readStatus(pid))?.started,
})

export const writeOwner = ({ pid, started = '' }: LockOwner): string => `${pid} ${started}\n`

/** Undefined for text that no process wrote whole. */
const readOwner = (text: string): LockOwner | undefined => {
  const [, pid = '', started = ''] = OWNER.exec(text) ?? []
  if (pid === '') return undefined
  return { pid: Number(pid), started: started === '' ? undefined : started }
}

const OWNER = /^([1-9]\d{0,9}) (\d{0,20})\n$/

const isAlive = async ({ pid, started }: LockOwner): Promise<boolean> => {
  if (!hasNumber(pid)) return false
  const status = await readStatus(pid)
  if (status === undefined) return true
  // Killed, and kept only until its parent asks how it ended.
  if (status.state === 'Z' || status.state === 'X') return false
  return started === undefined || started === status.started
}

function hasNumber(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    return systemCode(error) === 'EPERM'
  }
}

interface Status {
  readonly state: string
  readonly started: string
}

/** From the third field of proc_pid_stat(5) on, after a name that may hold anything. Linux only. */
async function readStatus(pid: number): Promise<Status | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state = ''] = fields
  const started = fields[STARTED - 3]
  return started === undefined ? undefined : { state, started }
}

/** Its number on that page. */
const STARTED = 22
