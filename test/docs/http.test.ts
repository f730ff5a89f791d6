import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseDocument } from '../../src/documents/document.ts'
import { readEntries } from '../../src/documents/field.ts'
import { buildCatalog } from '../../src/requests/acme/formats.ts'
import { testServer } from '../support/headgate.ts'
import { ROOT } from '../support/sources.ts'
import { spendingServer } from '../support/spending-server.ts'

const page = readFileSync(`${ROOT}docs/reference/http.md`, 'utf8')

interface Block {
  readonly kind: string
  readonly text: string
}

const blocks: readonly Block[] = [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(
  ([, kind = '', text = '']) => ({ kind, text: text.trim() }),
)

const catalogOfPage = () => {
  const yaml = blocks.find(({ kind }) => kind === 'yaml')?.text ?? ''
  const sections = readEntries({ thing: 'page', node: parseDocument(yaml, 'http.md') })
  const under = (section: string) =>
    sections.filter(({ name }) => name === section).map(({ node }) => node)
  return buildCatalog({ limits: under('limits'), overrides: under('overrides') })
}

/** The section by itself, without its name. */
const spendingOfPage = (): string => {
  const yaml = blocks.find(({ text }) => text.startsWith('spending:\n'))?.text ?? ''
  return yaml.replace('spending:\n', '').replace(/^ {2}/gm, '')
}

/** What `curl` would send. */
const toRequest = (command: string) => {
  const [, url, json] =
    /^curl -i '?localhost:8080([^' ]+)'?(?: --json '(.+)')?$/.exec(command) ?? []
  if (url === undefined) throw new Error(`no such curl is understood: ${command}`)
  return json === undefined
    ? { method: 'GET' as const, url }
    : { method: 'POST' as const, url, payload: JSON.parse(json) }
}

test('every example of the page answers what the page says', async () => {
  const { app } = await spendingServer({ catalog: catalogOfPage(), section: spendingOfPage() })
  let reply = await app.inject('/livez')
  let compared = 0
  for (const { kind, text } of blocks) {
    if (kind === 'sh') reply = await app.inject(toRequest(text))
    if (kind === 'json') expect(reply.json(), text).toEqual(JSON.parse(text))
    if (kind === 'http') {
      const [status = '', ...headers] = text.split('\n')
      expect(`HTTP/1.1 ${reply.statusCode} ${reply.statusMessage}`).toBe(status)
      for (const header of headers) {
        const [name = '', value] = header.split(/: (.*)/)
        expect(`${name}: ${reply.headers[name.toLowerCase()]}`).toBe(`${name}: ${value}`)
      }
    }
    if (kind === 'json' || kind === 'http') compared++
  }
  expect(compared).toBeGreaterThan(15)
})

test('every route of the description has a heading', async () => {
  const { paths } = (await testServer().app.inject('/openapi.json')).json()
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(Object(methods)).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const headings = [...page.matchAll(/^## ((?:GET|POST) \S+)$/gm)].map(([, route]) => route)
  expect(headings.sort()).toEqual(routes.sort())
})
