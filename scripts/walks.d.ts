export declare const WALK_NAMES: readonly WalkName[]

export type WalkName = 'spend' | 'override' | 'block' | 'hold' | 'pin'

export declare const walk: (name: WalkName) => Promise<string[]>
