import { readFileSync } from 'node:fs'

/** A file of test/vectors, as the type its test states. */
export const vectors = <T>(path: string): T =>
  JSON.parse(readFileSync(new URL(`../vectors/${path}`, import.meta.url), 'utf8')) as T
