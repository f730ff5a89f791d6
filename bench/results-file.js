/** RESULTS.md: a section for each row group. A run replaces the sections it measured, and no others. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const HEAD = `# Results

Headgate and its peers, taking turns in one run: a warm-up, then rounds in which each variant is
measured once, in a new random order each round. The ratio is the median of the ratios round by
round. Where the ranges of a variant and of the base overlap, the difference is not resolved.

Machines differ, and this one had other work to do: read the ratios, not the absolutes. A table's
variants may be compared with each other; those of two tables may not. No row has a bar to clear yet.

Written by \`npm run bench\`; \`npm run bench -- memory\` measures and replaces one section only.
`

/** `sections` are the texts by name of row group; `order` says which stands where. */
export const writeResults = (file, sections, order) => {
  const kept = existsSync(file) ? readSections(readFileSync(file, 'utf8')) : new Map()
  const all = new Map([...kept, ...sections])
  const body = order.flatMap((name) => (all.has(name) ? [`## ${name}\n\n${all.get(name)}`] : []))
  writeFileSync(file, `${[HEAD, ...body].join('\n').trimEnd()}\n`)
}

const readSections = (text) => {
  const [, ...sections] = text.split(/^## /m)
  return new Map(
    sections.map((section) => {
      const end = section.indexOf('\n')
      return [section.slice(0, end), section.slice(end).trim() + '\n']
    }),
  )
}
