/** What a gate must know of a framework. Each door supplies it; the gate itself knows none. */

/**
 * How far the framework believes `X-Forwarded-For`: not at all, from some proxies, or from anyone.
 * Where it cannot be told, `some`.
 */
export type ForwardedTrust = 'none' | 'some' | 'all'

/** `platform` is what a fetch handler gets beside its request. */
export interface Door<Ask> {
  /** As messages call it. */
  readonly name: string
  /** By its name in lower case; several lines joined by commas. */
  header(request: Ask, name: string): string | undefined
  /** The client's address as the framework works it out; undefined where it has none. */
  address(request: Ask, platform: unknown): string | undefined
  /** The other end of the connection: a proxy, where there is one. */
  peer(request: Ask, platform: unknown): string | undefined
  trust(request: Ask): ForwardedTrust
  /** The signed-in user, where the framework has a place for one. */
  readonly user?: (request: Ask) => unknown
}

/** Of what may be anything: frameworks keep users, connections and platforms where they like. */
export const fieldOfRequest = (holder: unknown, name: string): unknown =>
  typeof holder === 'object' && holder !== null ? Reflect.get(holder, name) : undefined
