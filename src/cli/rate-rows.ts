/** Rates as the service answers them, as rows of a table. */
import { describeSeconds } from './moments.ts'
import type { Done } from './rates-command.ts'

export const RATE_HEADINGS = ['ID', 'SUBJECT', 'RATE', 'LABEL', 'EXPIRES', 'REASON']

export const rateRow = (rate: Done): readonly string[] => [
  textOf(rate, 'id'),
  textOf(rate, 'subject'),
  textOf(rate, 'rate'),
  textOf(rate, 'label'),
  momentOf(rate, 'expires'),
  textOf(rate, 'reason'),
]

export const textOf = (record: Done, name: string): string => {
  const value = record[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export const momentOf = (record: Done, name: string): string => {
  const value = record[name]
  return typeof value === 'number' ? describeSeconds(value) : ''
}

export const recordsOf = (record: Done, name: string): readonly Done[] => {
  const list = record[name]
  return Array.isArray(list) ? list.map((item: unknown) => recordOf(item)) : []
}

export const recordOf = (value: unknown): Done =>
  typeof value === 'object' && value !== null ? { ...value } : {}

/** How to go on where a page was not the last. */
export const moreOf = (page: Done): readonly string[] => {
  const next = textOf(page, 'next')
  return next === '' ? [] : [`more: --after ${next}`]
}
