/** An answer that may be long: passed on as it comes, or kept if it is not what was asked for. */
import type { Reply } from './api.ts'

export const readStream = async (
  status: number,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  write: (data: Uint8Array) => void,
): Promise<Reply> => {
  const kept: Uint8Array[] = []
  for await (const data of body) {
    if (status === 200) write(data)
    else kept.push(data)
  }
  return { status, text: Buffer.concat(kept).toString('utf8') }
}
