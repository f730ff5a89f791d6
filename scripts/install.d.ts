export declare const installLocked: (
  folder: string,
  say: () => void,
  flags?: readonly string[],
) => void
