export type ServiceKind = 'redis' | 'cluster' | 'postgres'

export interface Service {
  readonly url: string
  readonly ports: readonly number[]
  /** As a crash does; of a cluster its first master. */
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
