/** A chain of one node behind JSON-RPC. */
export interface Chain {
  readonly url: string
  /** The methods it was asked, in order. */
  readonly asked: string[]
  deploy(address: string, code: string): Promise<void>
  mine(blocks: number): void
  close(): void
}

export const startChain: (options: { readonly chainId: number }) => Promise<Chain>
