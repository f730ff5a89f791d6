/** One signature has one text; others that would verify are refused. */
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { expect, test } from 'vitest'
import { recover } from './recover.ts'

const key = new Uint8Array(32).fill(7)
const hash = new Uint8Array(32).fill(9)
const [recovery = 0, ...rest] = secp256k1.sign(hash, key, { prehash: false, format: 'recovered' })
const text = (bytes: readonly number[]) => `0x${Buffer.from(bytes).toString('hex')}`
const good = text([...rest, recovery + 27])
const publicKey = Buffer.from(secp256k1.getPublicKey(key, true)).toString('hex')

test('r || s || v with v of 27 and 28, or 0 and 1, gives the one who signed', () => {
  expect(recover(hash, good)?.publicKey).toBe(publicKey)
  expect(recover(hash, text([...rest, recovery]))?.publicKey).toBe(publicKey)
  expect(recover(hash, good.toUpperCase().replace('0X', '0x'))?.publicKey).toBe(publicKey)
})

test('other orders, lengths, prefixes and values of v are no signature', () => {
  const wrong = [
    text([recovery + 27, ...rest]),
    text([...rest, recovery + 27, 0]),
    text(rest),
    good.slice(2),
    text([...rest, recovery + 29]),
    text([...rest, 2]),
    `${good}zz`,
    '0x',
    '',
    text(new Array<number>(65).fill(0)),
    text([...new Array<number>(64).fill(0xff), 27]),
  ]
  for (const each of wrong) expect(recover(hash, each), each).toBeUndefined()
})

test('the other s, which verifies as well, is refused', () => {
  const order = secp256k1.Point.Fn.ORDER
  const s = BigInt(`0x${Buffer.from(rest.slice(32)).toString('hex')}`)
  const high = (order - s).toString(16).padStart(64, '0')
  const r = Buffer.from(rest.slice(0, 32)).toString('hex')
  const v = (28 - recovery).toString(16)
  expect(recover(hash, `0x${r}${high}${v}`)).toBeUndefined()
})
