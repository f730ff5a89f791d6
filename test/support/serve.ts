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
  const served = await announceServer(words)
  while (!(await fetch(`${served.url}/readyz`)).ok) {
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return served
}

/** The same without waiting until it is ready: it listens, and that is all. */
export const announceServer = async (
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Served> => {
  const flags = ['--port', '0', '--json', '--log-level', 'warn']
  const child = startChild('dist/cli/main.js', [...words, ...flags], env)
  const url = await announcedUrl(child)
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

/** Where it listens, from the JSON that it prints once it does. */
async function announcedUrl(child: Child): Promise<string> {
  let text = ''
  for (;;) {
    text += await child.line()
    try {
      return JSON.parse(text).url
    } catch {
      // Not whole yet.
    }
  }
}
