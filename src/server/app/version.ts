/** Which Headgate this is, as the package says. */
import { readFileSync } from 'node:fs'

/** The package file lies two folders up from here, both in the sources and in what is published. */
const PACKAGE = new URL('../../../package.json', import.meta.url)

const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string }

export const VERSION: string = version
