/** `cluster` has no replicas, `replicated` is one that has; `tls` is a single Redis. */
export type ServiceKind =
  | 'redis'
  | 'cluster'
  | 'replicated'
  | 'sentinel'
  | 'tls'
  | 'postgres'
  | 'pgbouncer'

export interface Service {
  readonly url: string
  /** Of a cluster the masters come first; of a group under Sentinel the primary, replica and Sentinel. */
  readonly ports: readonly number[]
  /** With TLS: the certificate of the authority. */
  readonly ca?: string
  /** As a crash does; of several the first. */
  kill(): Promise<void>
  /** Killed first, if it runs. On the same data and port. */
  restart(): Promise<void>
}

export interface SkippedService {
  readonly skipped: string
}

export interface Services {
  start(kind: ServiceKind, settings?: readonly string[]): Promise<Service | SkippedService>
  stop(): Promise<void>
}

export const openServices: () => Services
