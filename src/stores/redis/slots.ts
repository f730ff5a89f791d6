/** The slot of a name in Redis Cluster: CRC16 of its tag. https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/ */
import { assert } from '../../core/errors.ts'
import { tagOf } from '../../core/names.ts'

const SLOTS = 16_384

export const ALL_SLOTS: ReadonlySet<number> = new Set(Array.from({ length: SLOTS }, (_, i) => i))

/** Slots as text: `0-99,300`. */
export const rangesOf = (slots: ReadonlySet<number>): string => {
  const ranges: { first: number; last: number }[] = []
  for (const slot of [...slots].sort((a, b) => a - b)) {
    const range = ranges.at(-1)
    if (range?.last === slot - 1) range.last = slot
    else ranges.push({ first: slot, last: slot })
  }
  return ranges
    .map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`))
    .join()
}

/** What is no slot is left out. */
export const slotsIn = (ranges: string): ReadonlySet<number> => {
  const slots = new Set<number>()
  for (const [, first, last = first] of ranges.matchAll(/(\d+)(?:-(\d+))?/g)) {
    const beyond = Math.min(SLOTS, Number(last) + 1)
    for (let slot = Number(first); slot < beyond; slot++) slots.add(slot)
  }
  return slots
}

/** Throws if the name has no tag: then Redis would hash all of it, our prefix included. */
export const slotOfName = (name: string): number => {
  const tag = tagOf(name)
  assert(tag !== name, () => `a name has a tag in a cluster: ${name.slice(0, 64)}`)
  return slotOfTag(tag)
}

export const slotOfTag = (tag: string): number => crc16(new TextEncoder().encode(tag)) % SLOTS

/** Some tag of each slot, for what belongs to a slot and to no tag in it. */
export const tagOfSlot = (slot: number): string => {
  const tag = allTags()[slot]
  assert(tag !== undefined, () => `a slot is a number from 0 to ${SLOTS - 1}: ${slot}`)
  return tag
}

/** The tag of every slot. */
export const allTags = (): readonly string[] => {
  if (tags.length === 0) fillTags()
  return tags
}

const tags: string[] = []

/** Some 160,000 numbers in 30 ms, once. */
function fillTags(): void {
  let missing = SLOTS
  for (let number = 0; missing > 0; number++) {
    const tag = String(number)
    const slot = slotOfTag(tag)
    if (tags[slot] !== undefined) continue
    tags[slot] = tag
    missing -= 1
  }
}

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

/** XMODEM: polynomial 1021, from 0, nothing reflected. */
function crc16(bytes: Uint8Array): number {
  let crc = 0
  for (const byte of bytes) crc = ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] ?? 0)
  return crc
}
