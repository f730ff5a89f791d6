/** What a client of the domain API sees. */

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: {
    readonly success: boolean
    readonly version: string
    readonly error?: string
    readonly signature?: string
    readonly status?: Readonly<Record<string, number | boolean>>
  }
}

/** Posts over a connection that is kept. Rejects if the server ends before it answers. */
export const replyTo = async (
  url: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const text = await response.text()
  const found = Object.fromEntries(response.headers)
  return { status: response.status, headers: found, body: JSON.parse(text) }
}
