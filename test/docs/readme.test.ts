import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseDocument } from '../../src/documents/document.ts'
import { ROOT } from '../support/sources.ts'

const page = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8')
const readme = page('README.md')

test('the code in the README is cut from an example that runs', () => {
  const snippets = [...readme.matchAll(/<!-- (examples\/\S+) -->\n```ts\n([\s\S]*?)```/g)]
  expect(snippets.length).toBeGreaterThan(0)
  for (const [, path = '', code = ''] of snippets) expect(page(path)).toContain(code)
  expect(readme.match(/```(?:ts|js)/g)).toHaveLength(snippets.length)
})

test('every YAML block in the README is a document that loads', () => {
  const blocks = [...readme.matchAll(/```yaml\n([\s\S]*?)```/g)]
  expect(blocks.length).toBeGreaterThan(0)
  for (const [, text = ''] of blocks) expect(() => parseDocument(text, 'README.md')).not.toThrow()
})

test('every npm command that the README names exists', () => {
  const { scripts } = JSON.parse(page('package.json'))
  const named = [...readme.matchAll(/npm (?:run )?(start|test|prove|bench|check|build)\b/g)]
  expect(named.length).toBeGreaterThan(2)
  for (const [, name = ''] of named) expect(scripts).toHaveProperty(name)
})

test('links inside the project lead somewhere', () => {
  for (const path of [
    'README.md',
    'ARCHITECTURE.md',
    'docs/guide/requests.md',
    'docs/guide/spending.md',
    'docs/guide/subjects.md',
    'docs/guide/stores.md',
    'docs/guide/backup.md',
  ]) {
    const folder = path.includes('/') ? `${path.slice(0, path.lastIndexOf('/'))}/` : ''
    const links = [...page(path).matchAll(/\]\((?!https?:)([^)#]+)/g)]
    for (const [, target = ''] of links) {
      expect(existsSync(`${ROOT}${folder}${target}`), `${path} → ${target}`).toBe(true)
    }
  }
})
