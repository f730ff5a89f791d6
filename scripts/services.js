// Redis of all kinds, PostgreSQL and PgBouncer of our own: `npm run services` starts them for a developer and ends
// them with Ctrl-C; tests ask for what they need. They leave nothing behind.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'

/** Starts the process that keeps them. It ends with this one. */
export const openServices = () => {
  const keeper = fork(new URL('services/keeper.js', import.meta.url), {
    execArgv: [],
    // A process group of its own: Ctrl-C is for us, and we let go of it.
    detached: true,
  })
  const waiting = new Map()
  let count = 0
  keeper.on('message', ({ number, answer, failure }) => {
    const { resolve, reject } = waiting.get(number)
    waiting.delete(number)
    if (failure === undefined) resolve(answer)
    else reject(new Error(failure))
  })
  keeper.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the keeper of services has ended'))
  })
  const ask = (message) =>
    new Promise((resolve, reject) => {
      const number = ++count
      waiting.set(number, { resolve, reject })
      keeper.send({ number, ...message })
    })
  return {
    start: async (kind, settings = []) => {
      const { id, url, ports, ca, skipped } = await ask({ act: 'start', kind, settings })
      if (skipped !== undefined) return { skipped }
      const act = (name) => async () => {
        await ask({ act: name, id })
      }
      return {
        url,
        ports,
        ca,
        kill: act('kill'),
        restart: act('restart'),
      }
    },
    stop: async () => {
      if (keeper.exitCode !== null) return
      const ended = once(keeper, 'exit')
      keeper.disconnect()
      await ended
    },
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const services = openServices()
  for (const kind of ['redis', 'replicated', 'sentinel', 'postgres', 'pgbouncer']) {
    const { url, skipped } = await services.start(kind)
    console.log(`headgate: ${kind}: ${url ?? `not here: ${skipped}`}`)
  }
  console.log('headgate: they run until you press Ctrl-C')
  await new Promise((resolve) => {
    process.once('SIGINT', resolve)
    process.once('SIGTERM', resolve)
  })
  await services.stop()
}
