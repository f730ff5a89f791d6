import { createServer } from 'node:net'
import { type Child, startChild } from './child.ts'

export interface Served {
  readonly url: string
  readonly child: Child
  post(path: string, body: unknown): Promise<Response>
}

/** `headgate serve` as a process of its own, on a private port; resolves when it is ready. */
export const serve = (args: readonly string[]): Promise<Served> => startServer(['serve', ...args])

/** The same for any command that listens. */
export const startServer = async (words: readonly string[]): Promise<Served> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = startChild('dist/cli/main.js', [
    ...words,
    '--port',
    `${port}`,
    '--log-level',
    'warn',
  ])
  await ready(url, child)
  return {
    url,
    child,
    post: (path, body) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      probe.close(() => resolve(port))
    })
  })

async function ready(url: string, child: Child): Promise<void> {
  let over = false
  child.ended.then(() => {
    over = true
  })
  for (;;) {
    if (over) throw new Error('the server ended before it was ready')
    const answered = await fetch(`${url}/readyz`).catch(() => undefined)
    if (answered?.ok === true) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
