export const provideProgram: (
  program: string,
  packages: readonly string[],
  say: (text: string) => void,
) => boolean
export const programVersion: (program: string, flag: string) => string
export const programEnvironment: NodeJS.ProcessEnv
export const hasProgram: (program: string) => boolean
