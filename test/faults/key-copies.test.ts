/** How often a key lies in the memory of a signer, seen from outside, through /proc. */
import { closeSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { generateKey, saveKey } from '../../src/secrets/index.ts'
import { readLittleEndian, writeLittleEndian } from '../../src/secrets/poprf/bytes.ts'
import { R } from '../../src/secrets/poprf/curve/scalar.ts'
import { times } from '../support/counts.ts'
import { temporaryFolder } from '../support/folder.ts'
import { askSigner, startSigner } from '../support/odis-process.ts'
import { requestFor } from '../support/odis-requests.ts'
import { withQuota } from '../support/odis-samples.ts'

/** Waits until no thread of a process runs: what it has mapped then stays where it is. */
const halt = (pid: number): void => {
  process.kill(pid, 'SIGSTOP')
  const stands = (thread: string): boolean =>
    /^State:\s+[Tt]/m.test(readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8'))
  while (!readdirSync(`/proc/${pid}/task`).every(stands));
}

/** All that a halted process can write to, in the order of its maps. */
function* writable(pid: number): Generator<Buffer> {
  const memory = openSync(`/proc/${pid}/mem`, 'r')
  try {
    for (const line of readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from = '', to = ''] = /^(\w+)-(\w+) rw/.exec(line) ?? []
      if (from === '') continue
      const start = Number.parseInt(from, 16)
      const bytes = Buffer.alloc(Number.parseInt(to, 16) - start)
      yield bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, start))
    }
  } finally {
    closeSync(memory)
  }
}

// The process stands still meanwhile: a thread that unmaps memory between the list and the read makes it fail.
const countIn = (pid: number, needle: Uint8Array): number => {
  let count = 0
  halt(pid)
  try {
    for (const bytes of writable(pid)) {
      for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) count += 1
    }
  } finally {
    process.kill(pid, 'SIGCONT')
  }
  return count
}

/** The scalar as arithmetic holds it: times 2^256, modulo the order. */
const montgomery = (scalar: Uint8Array): Uint8Array =>
  writeLittleEndian((readLittleEndian(scalar) << 256n) % R, 32)

// 2 before the first evaluation and 102 after a hundred is what an engine that is left alone leaves behind.
test.skipIf(process.platform !== 'linux')(
  'evaluations leave no copy of the key behind, in any form: the one that answers is the only one',
  async () => {
    const folder = temporaryFolder()
    const { secret, ...rest } = generateKey()
    writeFileSync(join(folder, 'secret'), '5a'.repeat(32), { mode: 0o600 })
    await saveKey(join(folder, 'keys'), new Uint8Array(32).fill(0x5a), { ...rest, secret }, 1)
    const attempts = times(10, 200)
    const signer = await startSigner(folder, '--workers', '1')
    const pid = signer.child.process.pid ?? 0
    const atFirst = countIn(pid, secret)
    // The check of the key file made a number of it, which the garbage collector may still have.
    expect(atFirst).toBeGreaterThanOrEqual(1)
    expect(atFirst).toBeLessThanOrEqual(2)
    const sample = withQuota('copies', attempts)
    for (let nonce = 0; nonce < attempts; nonce++) {
      const reply = await askSigner(signer, 'sign', requestFor(sample, { nonce }))
      expect(reply.status).toBe(200)
    }
    expect(countIn(pid, secret)).toBeLessThanOrEqual(atFirst)
    const text = Buffer.from(secret).toString('hex')
    const backwards = Buffer.from(secret).reverse()
    const forms = [
      montgomery(secret),
      backwards,
      Buffer.from(text),
      Buffer.from(backwards.toString('hex')),
      Buffer.from(Buffer.from(secret).toString('base64')),
    ]
    expect(forms.map((form) => countIn(pid, form))).toEqual([0, 0, 0, 0, 0])
  },
)
