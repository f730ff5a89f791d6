/** A process as its lock names it: by number and, where the system tells, by when it started. */
import { readFile } from 'node:fs/promises'
import { systemCode } from '../core/errors.ts'

export interface Owner {
  readonly pid: number
  /** In the system's own count; numbers of processes are used again, these two together are not. */
  readonly started?: string | undefined
}

export const ownerOf = async (pid: number): Promise<Owner> => ({
  pid,
  started: (await readStatus(pid))?.started,
})

export const writeOwner = ({ pid, started = '' }: Owner): string => `${pid} ${started}\n`

/** Undefined for text that no process wrote whole. */
export const readOwner = (text: string): Owner | undefined => {
  const [, pid = '', started = ''] = OWNER.exec(text) ?? []
  if (pid === '') return undefined
  return { pid: Number(pid), started: started === '' ? undefined : started }
}

const OWNER = /^([1-9]\d{0,9}) (\d{0,20})\n$/

export const isAlive = async ({ pid, started }: Owner): Promise<boolean> => {
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
