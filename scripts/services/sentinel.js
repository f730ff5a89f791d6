/** A private Redis primary with a replica, and a Sentinel that puts the replica in its place. */
import { writeFileSync } from 'node:fs'
import { removeFolder, scratchFolder } from './instance.js'
import { ask, isInStep, startServer, startSomewhere, until } from './redis.js'

/** What the Sentinel calls them. */
const GROUP = 'headgate'

/** One alone decides here: what a vote adds is Redis's own. */
const settingsOf = (port, primary) => `
port ${port}
bind 127.0.0.1
sentinel monitor ${GROUP} 127.0.0.1 ${primary} 1
sentinel down-after-milliseconds ${GROUP} 500
sentinel failover-timeout ${GROUP} 5000
`

export const startSentinel = async (settings = []) => {
  const folders = Array.from({ length: 3 }, scratchFolder)
  const [data, copy, watch] = folders
  const quick = ['--repl-diskless-sync-delay', '0', ...settings]
  const primary = await startServer(data, quick)
  const replica = await startServer(copy, [...quick, '--replicaof', '127.0.0.1', primary.port])
  await until(() => isInStep(replica.port))
  const sentinel = await startSomewhere(async (port) => {
    const config = `${watch}/sentinel.conf`
    writeFileSync(config, settingsOf(port, primary.port))
    return [config, '--sentinel', '--dir', watch]
  })
  // Before it has asked the replica itself, it would not promote it.
  await until(async () =>
    /master-link-status\s+ok/.test(await ask(sentinel.port, 'SENTINEL', 'REPLICAS', GROUP)),
  )
  const servers = [primary, replica, sentinel]
  return {
    url: `redis+sentinel://127.0.0.1:${sentinel.port}/${GROUP}`,
    ports: servers.map(({ port }) => port),
    kill: () => primary.kill(),
    restart: () => primary.restart(),
    stop: async () => {
      await Promise.all(servers.map(({ kill }) => kill()))
      for (const folder of folders) removeFolder(folder)
    },
  }
}
