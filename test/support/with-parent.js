// Loaded before the script of a child process: it dies with the process that started it, even if
// that one was killed and could end nothing.
import { isMainThread } from 'node:worker_threads'

const die = () => process.kill(process.pid, 'SIGKILL')

if (isMainThread) {
  process.on('disconnect', die)
  process.channel?.unref()
  // The parent may be gone already.
  if (process.connected === false) die()
}
