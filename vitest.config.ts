import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { OTHER_STORES } from './scripts/other-stores.js'

/** With HEADGATE_STORE: what tests open as memory is a store of that kind. */
const otherStore = {
  name: 'other-store',
  enforce: 'pre' as const,
  resolveId: (source: string, importer = '') => {
    const isTest = importer.endsWith('.test.ts') || importer.includes('/test/support/')
    if (!isTest || importer.endsWith(OTHER_STORE) || !source.endsWith('stores/memory/index.ts'))
      return null
    return fileURLToPath(new URL(`.${OTHER_STORE}`, import.meta.url))
  },
}

/** With HEADGATE_STORE=lossy: what opens these pillars opens them for callers who ask again. */
const OPENERS: Readonly<Record<string, string>> = {
  '/src/requests/limiter/verbs.ts': 'createLimiter',
  '/src/spending/spending.ts': 'createSpending',
  '/src/secrets/signer/signer.ts': 'createSigner',
}

const retryingCallers = {
  name: 'retrying-callers',
  enforce: 'pre' as const,
  transform: (code: string, id: string) => {
    const opener = OPENERS[id.slice(fileURLToPath(new URL('.', import.meta.url)).length - 1)]
    if (opener === undefined) return null
    const from = fileURLToPath(new URL('./test/support/lossy.ts', import.meta.url))
    return [
      code.replace(`export const ${opener} =`, 'const openPlain ='),
      `import { retrying } from '${from}'`,
      `export const ${opener} = (options) => retrying('${opener}', openPlain(options))`,
    ].join('\n')
  },
}

const OTHER_STORE = '/test/support/other-store.ts'

const kind = process.env['HEADGATE_STORE']

export default defineConfig({
  plugins: [
    ...(kind === undefined ? [] : [otherStore]),
    ...(kind === 'lossy' ? [retryingCallers] : []),
  ],
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(OTHER_STORES[kind ?? ''] ?? [])],
    globalSetup: ['build', 'services'].map((name) =>
      fileURLToPath(new URL(`./test/setup/${name}.ts`, import.meta.url)),
    ),
    setupFiles: [fileURLToPath(new URL('./test/setup/chance.ts', import.meta.url))],
    // Files share a process: no test leaves anything behind in one, and starting a process for each
    // of them took as long as all of src/ takes now.
    isolate: false,
    // One more than processors: some tests wait for real seconds, or for processes of their own.
    maxWorkers: availableParallelism() + 1,
    // Only for what hangs: a busy machine may take ten times as long. Full counts take minutes anyway.
    testTimeout: process.env['HEADGATE_PROVE'] === '1' ? 1_800_000 : 300_000,
    hookTimeout: 300_000,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts', 'src/**/index.ts'],
      // All that can be reached: the rest are cases that the types exclude (`satisfies never`, `?? 0`).
      thresholds: { 'src/core/**': { branches: 96 } },
    },
  },
})
