export interface Door {
  /** As programs import it. */
  readonly name: string
  /** The compiled module that does its work. */
  readonly module: string
  /** What Node loads instead, if the door has optional peers. */
  readonly opener: string | undefined
  readonly peers: readonly string[]
}

export declare const reach: (entry: string) => ReadonlySet<string>

export declare const doorsOf: (
  manifest: {
    readonly name: string
    readonly exports: object
    readonly peerDependencies?: Readonly<Record<string, string>>
  },
  folder: string,
) => readonly Door[]
