/** The message a client asks about, blinded: as canonical base64 of what the suite can take. */
import { BLINDED_MESSAGE_BYTES, checkBlindedMessage } from './poprf/index.ts'
import { refuseSecret } from './secrets-mistake.ts'

/** Decoders disagree about spare bits, padding and other alphabets: one message has one text. */
export const decodeBlindedMessage = (text: string): Uint8Array => {
  const bytes = Buffer.from(text, 'base64')
  const canonical = bytes.toString('base64') === text
  if (canonical && bytes.length === BLINDED_MESSAGE_BYTES) {
    return checkBlindedMessage(Uint8Array.from(bytes))
  }
  return refuseSecret({
    code: 'REQUEST_INVALID',
    thing: 'blindedMessage',
    rule: `must be ${BLINDED_MESSAGE_BYTES} bytes in canonical base64`,
    finding: canonical ? `${bytes.length} bytes` : 'other text',
  })
}
