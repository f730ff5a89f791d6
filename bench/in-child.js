/** A variant in a process of its own: it shares no heap, no garbage and no compiled code with others. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const CHILD = fileURLToPath(new URL('child.js', import.meta.url))

/**
 * `contender` is an export of the module at `url`: given `options` it answers, perhaps later, with
 * `{ measure(): Promise<number>, note?(): string, close() }`. With `perProcessor` a second is one of its
 * processor, which other work on the machine does not take away.
 */
export const inChild = (name, { url, contender, options, perProcessor = false }) => {
  let child
  let note = ''

  const ask = (message) =>
    new Promise((resolve, reject) => {
      const onExit = (code) => reject(new Error(`${name}: its process ended with ${code}`))
      child.once('exit', onExit)
      child.once('message', (answer) => {
        child.off('exit', onExit)
        resolve(answer)
      })
      child.send(message)
    })

  return {
    name,
    prepare: async () => {
      child = fork(CHILD, [url.href, contender, JSON.stringify(options)])
      await ask('prepare')
    },
    run: async () => {
      const answer = await ask('measure')
      note = answer.note
      return perProcessor ? answer.processorRate : answer.rate
    },
    note: () => note,
    dispose: async () => {
      if (child === undefined || child.exitCode !== null) return
      await ask('close')
      child.disconnect()
    },
  }
}
