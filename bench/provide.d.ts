/** The types of provide.js, for tests that need a program of Debian. */

/** Whether the program is there, perhaps only now. */
export declare const provideProgram: (
  program: string,
  packages: readonly string[],
  say: (text: string) => void,
) => boolean

export declare const programEnvironment: NodeJS.ProcessEnv
