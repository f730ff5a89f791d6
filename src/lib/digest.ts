/** SHA-256 of text, at once and in any runtime: Web Crypto would make every caller wait for it. */
import { sha256 } from '@noble/hashes/sha2.js'

/** Of its UTF-8, in base64url without padding: 43 characters. */
export const digestText = (text: string): string =>
  btoa(String.fromCharCode(...sha256(new TextEncoder().encode(text))))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
