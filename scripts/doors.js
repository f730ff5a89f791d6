/** The doors of the library: what each one reaches, and the modules that open those with optional peers. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Statements only: what is imported with `import()` is loaded, and missed, when it is used. */
const STATEMENT = /^(?:import|export)\b[^'"`;]*?from ['"]([^'"]+)['"]|^import ['"]([^'"]+)['"]/gm

/** Every compiled module behind an entry, and every package and built-in that they import. */
export const reach = (entry, seen = new Set()) => {
  if (seen.has(entry)) return seen
  seen.add(entry)
  const code = readFileSync(entry, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  for (const [, from, bare] of code.matchAll(STATEMENT)) {
    const to = from ?? bare
    if (to.startsWith('.')) reach(join(dirname(entry), to), seen)
    else seen.add(to)
  }
  return seen
}

/** `@noble/curves/abstract/modular.js` is of `@noble/curves`. */
const packageOf = (specifier) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

/**
 * Each door of a manifest: its name, the module that does its work, the one that opens it on Node if it
 * has optional peers, and those peers. `folder` is dist/, or what will be.
 */
export const doorsOf = ({ name, exports, peerDependencies = {} }, folder) =>
  Object.entries(exports)
    .filter(([door]) => door !== './package.json')
    .map(([door, target]) => {
      const place = (path) => path && join(folder, relative('dist', path))
      const module = place(typeof target === 'string' ? target : target.default)
      const packages = new Set([...reach(module)].map(packageOf))
      const peers = [...packages].filter((one) => Object.hasOwn(peerDependencies, one)).sort()
      return { name: `${name}${door.slice(1)}`, module, opener: place(target.node), peers }
    })

export const writeOpeners = async (manifest, folder) => {
  for (const { name, module, opener, peers } of doorsOf(manifest, folder)) {
    if (opener === undefined) continue
    const names = Object.keys(await import(pathToFileURL(module).href))
    const path = relative(dirname(opener), module)
    mkdirSync(dirname(opener), { recursive: true })
    writeFileSync(opener, source({ name, path, peers, names }))
  }
}

const source = ({
  name,
  path,
  peers,
  names,
}) => `// ${name} on Node: says which of its peers is missing.
import { createRequire } from 'node:module'
import { openDoor } from '../lib/open-door.js'

const door = openDoor('${name}', '${path}', ${JSON.stringify(peers)}, createRequire(import.meta.url))

export const { ${names.join(', ')} } = door
`
