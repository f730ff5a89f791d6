/** Measurements as Markdown: for people, with all that is needed to doubt them. */
import { compare, summarise } from './stats.js'

/** One table with its conditions and its command. */
export const describeTable = ({ title, conditions, command, base }, rows, facts) =>
  [
    `### ${title}`,
    '',
    conditions,
    '',
    `Command: \`${command}\`. ${facts}`,
    '',
    '| Variant | Decisions a second: median | min..max | Ratio | |',
    '|---|--:|--:|--:|---|',
    ...rows.map((row) => describeRow(row, rows, base)),
    '',
  ].join('\n')

const describeRow = (row, rows, base) => {
  const { name, samples, leftOut, note = '' } = row
  if (leftOut !== undefined) return `| ${name} | – | – | – | left out: ${leftOut} |`
  const { median, low, high } = summarise(samples)
  const [ratio, remark] = besideBase(row, rows, base)
  const remarks = [remark, note].filter((text) => text !== '').join('; ')
  return `| ${name} | ${rate(median)} | ${rate(low)}..${rate(high)} | ${ratio} | ${remarks} |`
}

const besideBase = ({ name, samples }, rows, base) => {
  if (name === base) return ['1', 'the base']
  const { samples: baseSamples = [] } = rows.find((row) => row.name === base) ?? {}
  if (baseSamples.length === 0) return ['–', '']
  const { ratio, resolved } = compare(samples, baseSamples)
  return [figures(ratio), resolved ? '' : 'the ranges overlap: not resolved']
}

/** Three figures: the fourth is noise on any machine that does something else too. */
const figures = (value) => Number(value.toPrecision(3)).toLocaleString('en')

const rate = (value) => figures(Math.max(value, 1))
