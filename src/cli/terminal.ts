/** Where a command writes: lines for people, or one JSON value for programs. */
export interface Terminal {
  /** The command's answer. */
  out(text: string): void
  /** The command's answer, where it is no text. */
  bytes(data: Uint8Array): void
  /** What is not the answer: mistakes and warnings. */
  err(text: string): void
}

export const writeJson = (terminal: Terminal, value: unknown): void =>
  terminal.out(JSON.stringify(value, undefined, 2))

/** Columns as wide as their widest cell. Nothing is cut: ids must be readable whole. */
export const table = (rows: readonly (readonly string[])[]): string => {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length)
    }
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
