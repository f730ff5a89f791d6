/** A private PostgreSQL: a database of its own by initdb, which refuses to run as root. */
import { execFile, execFileSync } from 'node:child_process'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { promisify } from 'node:util'
import { hasProgram, programEnvironment, provideProgram } from '../programs.js'
import { freePort, removeFolder, scratchFolder, startInstance } from './instance.js'

const run = promisify(execFile)

/** Debian keeps them apart by version. */
const DEBIAN = '/usr/lib/postgresql'

const findBinaries = () => {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN) : []
  const folders = versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => `${DEBIAN}/${version}/bin/`)
  const found = folders.find((folder) => existsSync(`${folder}initdb`))
  return found ?? (hasProgram('initdb') ? '' : undefined)
}

export const postgresReason = (say) => {
  if (findBinaries() === undefined) provideProgram('pg_ctlcluster', ['postgresql'], say)
  if (findBinaries() === undefined) return 'postgresql is missing, and apt-get could not install it'
  if (isRoot() && postgresUser() === undefined) return 'there is no user postgres to run it as'
  return undefined
}

export const isRoot = () => process.getuid?.() === 0

/** Who runs it in the place of root. */
export const postgresUser = () => {
  try {
    const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { stdio: 'pipe' }))
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}

/** Of the user that runs it. */
export const ownedFolder = () => {
  const folder = scratchFolder()
  const { uid, gid } = (isRoot() && postgresUser()) || {}
  if (uid !== undefined) chownSync(folder, uid, gid)
  return folder
}

const TRIES = 5

/** `settings` are words of its command line: `['-c', 'fsync=on']`. Off here, as only processes are killed. */
export const startPostgres = async (settings = []) => {
  const binaries = findBinaries()
  const folder = ownedFolder()
  const options = { env: programEnvironment, cwd: folder, ...(isRoot() && postgresUser()) }
  const data = `${folder}/data`
  const init = ['-D', data, '-U', 'headgate', '-A', 'trust', '-E', 'UTF8', '--locale=C']
  await run(`${binaries}initdb`, [...init, '--no-sync'], options)
  const server = await startSomewhere({ binaries, data, folder, options, settings })
  return {
    ...server,
    url: `postgres://headgate@127.0.0.1:${server.port}/postgres`,
    ports: [server.port],
    stop: async () => {
      await server.stop('SIGINT')
      removeFolder(folder)
    },
  }
}

const startSomewhere = async ({ binaries, data, folder, options, settings }) => {
  for (let tries = 1; ; tries++) {
    const port = await freePort()
    const where = ['-D', data, '-p', String(port), '-k', folder, '-h', '127.0.0.1']
    const quick = ['-c', 'fsync=off', '-c', 'max_connections=400', '-c', 'shared_buffers=32MB']
    const ready = ['-h', '127.0.0.1', '-p', String(port), '-q']
    try {
      const instance = await startInstance({
        command: `${binaries}postgres`,
        args: [...where, ...quick, ...settings],
        options,
        isReady: () => run(`${binaries}pg_isready`, ready, options).then(...ANSWERED),
      })
      return { port, ...instance }
    } catch (error) {
      if (tries === TRIES) throw error
    }
  }
}

const ANSWERED = [() => true, () => false]
