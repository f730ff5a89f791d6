import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './folder.ts'

export interface ConfigFolder {
  readonly path: string
  /** Writes a file in it and answers its path. */
  write(name: string, text: string): string
}

/** A folder with these files, gone when the test is. */
export const configFolder = (files: Readonly<Record<string, string>> = {}): ConfigFolder => {
  const path = temporaryFolder()
  const write = (name: string, text: string): string => {
    const file = join(path, name)
    writeFileSync(file, text)
    return file
  }
  for (const [name, text] of Object.entries(files)) write(name, text)
  return { path, write }
}
