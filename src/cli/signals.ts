/** How the system asks a server to reload and to end. */

/** npm passes on a Ctrl-C that the server has had already: so soon, it is the same one. */
const SAME_SIGNAL_MS = 500

export const onReloadSignal = (reload: () => void): void => {
  process.on('SIGHUP', reload)
}

/** Resolves at the first SIGTERM or SIGINT. At the next the process ends at once, whatever is open. */
export const endingSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let impatient = false
    const end = (signal: NodeJS.Signals): void => {
      if (impatient) process.exit(1)
      setTimeout(() => {
        impatient = true
      }, SAME_SIGNAL_MS).unref()
      resolve(signal)
    }
    process.on('SIGTERM', end)
    process.on('SIGINT', end)
  })
