import { expect, test } from 'vitest'
import { nameOf } from '../../core/names.ts'
import { ALL_SLOTS, rangesOf, slotOfName, slotOfTag, slotsIn, tagOfSlot } from './slots.ts'

/** The first from the specification, the others from `CLUSTER KEYSLOT` of Redis 7.0. */
test.each([
  ['123456789', 0x31c3],
  ['foo', 12_182],
  ['bar', 5_061],
  ['user1000', 3_443],
])('the slot of %s is as Redis says', (tag, slot) => {
  expect(slotOfTag(tag)).toBe(slot)
})

test('names of one tag share its slot, whatever else they say', () => {
  for (const name of [nameOf('requests', 'foo', 'a'), nameOf('spending', 'foo', 'b', 'c')]) {
    expect(slotOfName(name)).toBe(12_182)
  }
})

test('a name without a tag is a bug: Redis would hash it together with the prefix', () => {
  expect(() => slotOfName('foo')).toThrow('a name has a tag in a cluster: foo')
})

test('every slot has a tag that lies in it', () => {
  for (const slot of [0, 1, 8_191, 16_383]) expect(slotOfTag(tagOfSlot(slot))).toBe(slot)
  expect(() => tagOfSlot(16_384)).toThrow('a slot is a number')
})

test('slots as text are their ranges', () => {
  expect(rangesOf(ALL_SLOTS)).toBe('0-16383')
  expect(rangesOf(new Set([7, 300, 5, 6]))).toBe('5-7,300')
  expect(slotsIn('5-7,300')).toEqual(new Set([5, 6, 7, 300]))
  expect([rangesOf(new Set()), slotsIn('')]).toEqual(['', new Set()])
  expect(slotsIn('16380-99999')).toEqual(new Set([16_380, 16_381, 16_382, 16_383]))
})
