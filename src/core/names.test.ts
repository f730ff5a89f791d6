import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { indexOf, itemOf, listedName, nameOf, tagOf } from './names.ts'

/** What callers may send: the marks of names above all. */
const word = fc.string({
  unit: fc.constantFrom('a', 'b', '/', '{', '}', '#', '%', '2', 'F'),
  maxLength: 6,
})
const names = fc.tuple(word, fc.array(word, { minLength: 1, maxLength: 3 }))

describe('a name', () => {
  test('reads as pillar, tag and parts', () => {
    expect(nameOf('requests', '12345678', '3:12345678')).toBe('requests/{12345678}/3:12345678')
    expect(nameOf('spending', 'default', 'w', '17', 'total')).toBe('spending/{default}/w/17/total')
  })

  test('two that differ in tag or parts are never the same', () => {
    fc.assert(
      fc.property(names, names, ([tag, parts], [otherTag, otherParts]) => {
        const same = JSON.stringify([tag, parts]) === JSON.stringify([otherTag, otherParts])
        expect(nameOf('p', tag, ...parts) === nameOf('p', otherTag, ...otherParts)).toBe(same)
      }),
    )
  })

  test('all of one tag share a partition, whatever they hold, and of another tag none does', () => {
    fc.assert(
      fc.property(names, names, ([tag, parts], [otherTag, otherParts]) => {
        const [one, other] = [nameOf('p', tag, ...parts), nameOf('q', otherTag, ...otherParts)]
        expect(tagOf(one)).toBe(tagOf(nameOf('q', tag, ...otherParts)))
        expect(tagOf(one) === tagOf(other)).toBe(tag === otherTag)
      }),
    )
  })

  test('an empty tag is a tag: Redis would take the whole name for one', () => {
    expect(tagOf(nameOf('p', '', 'a'))).toBe(tagOf(nameOf('p', '', 'b')))
  })

  test('one without a tag is a partition of its own', () => {
    expect(['a', 'a/{}/b', 'a{b', 'a}b{c'].map(tagOf)).toEqual(['a', 'a/{}/b', 'a{b', 'a}b{c'])
  })
})

describe('a list', () => {
  test('is told by the keys that it shows, and by no others', () => {
    fc.assert(
      fc.property(names, word, ([tag, parts], item) => {
        const index = nameOf('p', tag, ...parts)
        const key = listedName(index, item)
        expect([indexOf(key), itemOf(key), tagOf(key)]).toEqual([index, item, tagOf(index)])
        expect(indexOf(index)).toBeUndefined()
      }),
    )
  })
})
