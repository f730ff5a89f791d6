export declare const PILLARS: readonly string[]
export declare const OTHER_STORES: Readonly<Record<string, readonly string[]>>
