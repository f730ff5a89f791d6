/** Links: which plan pays for an address or an IP that the file does not name. */

export interface Link {
  readonly plan: string
  /** Made by the first charge, not by an operator. */
  readonly automatic: boolean
}

export const encodeLink = ({ plan, automatic }: Link): string =>
  `${automatic ? 'automatic' : 'made'} ${plan}`

export const decodeLink = (value: string): Link => ({
  plan: value.slice(value.indexOf(' ') + 1),
  automatic: value.startsWith('automatic '),
})
