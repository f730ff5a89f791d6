// Runs one of the examples, which are TypeScript, on any Node that Headgate supports.
//
//   npm run example NAME
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const [name = ''] = process.argv.slice(2)
const source = `${root}examples/${name}.ts`
if (!existsSync(source)) {
  const names = readdirSync(`${root}examples`).filter((one) => one.endsWith('.ts'))
  console.error(`npm run example NAME, one of: ${names.map((one) => one.slice(0, -3)).join(', ')}`)
  process.exit(1)
}
// Inside the checkout, where `headgate` means this one.
const folder = `${root}dist-example/`
mkdirSync(folder, { recursive: true })
try {
  buildSync({ entryPoints: [source], outdir: folder, format: 'esm', logLevel: 'error' })
  execFileSync(process.execPath, [`${folder}${name}.js`], { stdio: 'inherit' })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
