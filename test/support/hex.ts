export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

export const fromHex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
