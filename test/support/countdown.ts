/** A point amid the work of others: after so many of them have told that they are done. */
export interface Countdown {
  /** One more is done. */
  readonly tick: () => void
  readonly over: Promise<void>
}

export const countdown = (count: number): Countdown => {
  let left = count
  let end = (): void => {}
  const over = new Promise<void>((resolve) => {
    end = resolve
  })
  if (left <= 0) end()
  return {
    tick: () => {
      left -= 1
      if (left === 0) end()
    },
    over,
  }
}
