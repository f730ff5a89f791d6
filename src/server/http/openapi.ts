/** `GET /openapi.json`: the routes, described by the schemas that check them (OpenAPI 3.1). */
import swagger from '@fastify/swagger'
import { VERSION } from '../version.ts'
import type { App } from './context.ts'

/** Before any route that it is to describe. */
export const registerOpenApi = (app: App): void => {
  app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Headgate',
        version: VERSION,
        description: 'One limiter for requests, spending and secrets.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: [
        { name: 'decisions', description: 'Charging limits, and asking what a charge would do.' },
        { name: 'limits', description: 'Which limits are in force.' },
        { name: 'subjects', description: 'Blocks and rates on subjects, by capability.' },
        { name: 'spending', description: 'Money that an operator spends for its users.' },
        { name: 'plans', description: 'Who may spend how much.' },
        { name: 'health', description: 'For those who run the server.' },
      ],
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'From `headgate tokens new`.' },
        },
      },
      security: [{ token: [] }],
    },
  })
}

export const openApiRoute = (app: App): void => {
  const schema = {
    operationId: 'openapi',
    summary: 'This description',
    tags: ['health'],
    security: [],
    response: { 200: { type: 'object', additionalProperties: true } },
  }
  app.get('/openapi.json', { schema }, async () => app.swagger())
}
