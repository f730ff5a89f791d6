/** The other end of a connection where requests are those of the Fetch standard, which does not know it. */
import { type ForwardedTrust, fieldOfRequest } from './door.ts'

/**
 * - Cloudflare says it in a header. It is believed only beside the `cf` that the platform gives a
 *   request, as elsewhere a client could send the header itself;
 * - Bun's server is asked;
 * - Deno and the adapters for Node hand it over.
 */
export const connectionAddress = (request: Request, platform: unknown): string | undefined => {
  if (isCloudflare(request)) return request.headers.get('cf-connecting-ip') ?? undefined
  const given = fieldOfRequest(platform, 'server') ?? platform
  const ask = fieldOfRequest(given, 'requestIP')
  const found =
    typeof ask === 'function'
      ? fieldOfRequest(Reflect.apply(ask, given, [request]), 'address')
      : (fieldOfRequest(fieldOfRequest(given, 'remoteAddr'), 'hostname') ??
        fieldOfRequest(
          fieldOfRequest(fieldOfRequest(given, 'incoming'), 'socket'),
          'remoteAddress',
        ))
  return typeof found === 'string' ? found : undefined
}

export const platformTrust = (request: Request): ForwardedTrust =>
  isCloudflare(request) ? 'some' : 'none'

function isCloudflare(request: Request): boolean {
  return typeof fieldOfRequest(request, 'cf') === 'object' && fieldOfRequest(request, 'cf') !== null
}
