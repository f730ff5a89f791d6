export declare const testsIn: (folder: string) => readonly string[]
