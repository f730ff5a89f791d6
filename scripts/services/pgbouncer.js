/** A private PgBouncer in transaction mode, before a private PostgreSQL: each statement may meet another session. */
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { provideProgram } from '../programs.js'
import { freePort, removeFolder, startInstance } from './instance.js'
import { isRoot, ownedFolder, postgresReason, postgresUser, startPostgres } from './postgres.js'

export const pgbouncerReason = (say) =>
  postgresReason(say) ??
  (provideProgram('pgbouncer', ['pgbouncer'], say)
    ? undefined
    : 'pgbouncer is missing, and apt-get could not install it')

const TRIES = 5

/** `settings` are words of PostgreSQL's command line. `kill` and `restart` are for PgBouncer alone. */
export const startPgbouncer = async (settings = []) => {
  const database = await startPostgres(settings)
  const folder = ownedFolder()
  const bouncer = await startSomewhere(folder, database.ports[0])
  return {
    ...bouncer,
    url: `postgres://headgate@127.0.0.1:${bouncer.port}/postgres`,
    ports: [bouncer.port, ...database.ports],
    stop: async () => {
      await bouncer.kill()
      removeFolder(folder)
      await database.stop()
    },
  }
}

const startSomewhere = async (folder, database) => {
  for (let tries = 1; ; tries++) {
    const port = await freePort()
    const file = `${folder}/pgbouncer.ini`
    writeFileSync(file, configurationOf(folder, port, database), { mode: 0o644 })
    try {
      const instance = await startInstance({
        command: 'pgbouncer',
        args: [file],
        options: { cwd: folder, ...(isRoot() && postgresUser()) },
        isReady: () => listens(port),
      })
      return { port, ...instance }
    } catch (error) {
      if (tries === TRIES) throw error
    }
  }
}

/** Few sessions for many clients, taken in turn: so no two statements can count on the same one. */
const configurationOf = (folder, port, database) => `[databases]
* = host=127.0.0.1 port=${database} user=headgate
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir = ${folder}
auth_type = any
pool_mode = transaction
max_client_conn = 400
default_pool_size = 4
server_round_robin = 1
`

const listens = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
