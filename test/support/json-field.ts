import type { Field } from '../../src/documents/field.ts'
import { parseJson } from '../../src/documents/json.ts'

/** A value as the strict readers take it: written as JSON and read again. */
export const jsonField = (value: unknown, thing = 'value'): Field => ({
  thing,
  node: parseJson(JSON.stringify(value), thing),
})
