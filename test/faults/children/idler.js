// Waits for its end. Given a module to load first, it starts another that waits, and prints its process id.
import { spawn } from 'node:child_process'

const [, script, preload] = process.argv
if (preload !== undefined) {
  const stdio = ['ignore', 'ignore', 'ignore', 'ipc']
  const child = spawn(process.execPath, ['--import', preload, script], { stdio })
  console.log(child.pid)
}
setInterval(() => {}, 1_000)
