/** JSON bent and garbled, as an attacker would. */
import type { Random } from './random.ts'

const JUNK: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  '0',
  '0x',
  '\ud800',
  '\u0000',
  'x'.repeat(5_000),
  [],
  {},
  [[[[]]]],
  { defined: true, value: 1 },
  { defined: false, value: 'x' },
  { __proto__: null, constructor: 1 },
]

/** One place of a tree, whichever, replaced, removed, doubled or renamed. */
export const bend = (value: unknown, random: Random): unknown => {
  if (typeof value !== 'object' || value === null || random.below(6) === 0) return random.pick(JUNK)
  if (Array.isArray(value)) {
    const at = random.below(Math.max(1, value.length))
    const manner = random.below(3)
    if (manner === 0) return value.filter((_, i) => i !== at)
    if (manner === 1) return [...value, ...value]
    return value.map((item, i) => (i === at ? bend(item, random) : item))
  }
  const entries = Object.entries(value)
  if (entries.length === 0) return random.pick(JUNK)
  const [chosen] = random.pick(entries)
  const manner = random.below(8)
  return Object.fromEntries(
    entries.flatMap(([name, held]) => {
      if (name !== chosen) return [[name, held]]
      if (manner === 0) return []
      if (manner === 1) return [[`${name}x`, held]]
      if (manner === 2)
        return [
          [name, held],
          [`${name}2`, held],
        ]
      return [[name, bend(held, random)]]
    }),
  )
}

/** The text itself, cut or with characters changed. */
export const garble = (text: string, random: Random): Uint8Array<ArrayBuffer> => {
  const bytes = new TextEncoder().encode(text)
  if (random.below(2) === 0) return bytes.slice(0, random.below(bytes.length))
  for (let i = 0; i < 1 + random.below(3); i++)
    bytes[random.below(bytes.length)] = random.below(256)
  return bytes
}
