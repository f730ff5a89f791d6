#!/usr/bin/env node
/** The command `headgate` of the library: runs the service, which is the package `headgate-server`. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { peerMissing } from '../core/errors.ts'

const SERVICE = 'headgate-server'

/** Where the service may be: built beside this file, as in a checkout; in the project; beside Headgate. */
function findService(): string | undefined {
  const beside = fileURLToPath(new URL('../cli/main.js', import.meta.url))
  if (existsSync(beside)) return beside
  return installedFor(join(process.cwd(), 'package.json')) ?? installedFor(import.meta.url)
}

function installedFor(from: string): string | undefined {
  try {
    const manifest = createRequire(from).resolve(`${SERVICE}/package.json`)
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> }
    return join(dirname(manifest), bin[SERVICE] ?? '')
  } catch {
    return undefined
  }
}

const main = findService()
if (main === undefined) {
  const { code, message } = peerMissing('the command headgate', [SERVICE])
  const once = ['npx', SERVICE, ...process.argv.slice(2)].join(' ')
  process.stderr.write(`error ${code}: ${message}\nOr run it without installing it: ${once}\n`)
  process.exitCode = 1
} else {
  await import(pathToFileURL(main).href)
}
