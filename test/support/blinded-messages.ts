import {
  type BlindedMessage,
  blind,
  dealShares,
  generatePrivateKey,
} from '../../src/secrets/poprf/index.ts'

/** A blinded message that every engine accepts. */
export const someBlindedMessage = (): BlindedMessage => blind(Uint8Array.of(1, 2, 3)).blindedMessage

export const someSingleKey = () => ({ kind: 'single', secret: generatePrivateKey() }) as const

export const someShare = () => {
  const [secret = new Uint8Array()] = dealShares(1, 1).shares
  return { kind: 'share', secret } as const
}

/** A copy with one byte replaced. */
export const withByte = (bytes: Uint8Array, at: number, value: number): Uint8Array =>
  bytes.map((byte, index) => (index === at ? value : byte))

/** A copy with bytes replaced from a place on. */
export const withBytes = (bytes: Uint8Array, at: number, values: Uint8Array): Uint8Array => {
  const changed = Uint8Array.from(bytes)
  changed.set(values, at)
  return changed
}
