/** The service from its tarball, alone and beside the library. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { times } from '../support/counts.ts'
import { emptyProject, lend, npm, pack, readManifest, unpack } from '../support/packages.ts'

const project = emptyProject()
const { folder } = project

const installs = times(0, 1) === 1

/** A sample borrows the packages of this checkout; the proof installs as strangers do. */
beforeAll(() => {
  const [library, service] = [pack('headgate', folder), pack('headgate-server', folder)]
  if (installs) npm(['install', '--no-audit', '--no-fund', '--silent', library, service], folder)
  else {
    unpack(library, 'headgate', folder)
    unpack(service, 'headgate-server', folder)
    lend(Object.keys(readManifest('packages/server/').dependencies), folder)
  }
  writeFileSync(
    join(folder, 'headgate.yml'),
    'limits:\n  Logins: { id: opaque, burst: 1, count: 1, period: 1h }\n',
  )
})
afterAll(project.remove)

const commandOf = (name: string): string => {
  const { bin } = JSON.parse(
    readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'),
  )
  return join(folder, 'node_modules', name, bin[name])
}

/** Where a server listens, from the first line that names an address. */
const addressOf = async (child: ChildProcess): Promise<string> => {
  if (child.stdout === null) throw new Error('the output of the server is not read')
  for await (const line of createInterface({ input: child.stdout })) {
    const [address] = /http:\/\/[^\s"/]+/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('the server ended before it listened')
}

test.each(['headgate-server', 'headgate'])('%s serve answers a request', async (name) => {
  const words = ['serve', '--config', 'headgate.yml', '--port', '0', '--store', 'memory:']
  const child = spawn(process.execPath, [commandOf(name), ...words], { cwd: folder })
  try {
    const address = await addressOf(child)
    const spend = async () => {
      const reply = await fetch(`${address}/v1/spend`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ limit: 'Logins', id: 'ann' }),
      })
      return reply.json()
    }
    expect([await spend(), await spend()]).toMatchObject([{ allowed: true }, { allowed: false }])
  } finally {
    child.kill()
    await once(child, 'exit')
  }
})
