/** What the commands of signers can be told beyond what every server can, and the variables for it. */

export const ODIS_OPTION_NAMES = [
  'keys',
  'key-secret',
  'current-key',
  'conduct',
  'engine',
  'workers',
  'queue',
  'rpc-url',
  'phone-quota',
  'limit-per-address',
  'limit-in-all',
  'trust-proxy',
  'audit-days',
] as const

export type OdisOptionName = (typeof ODIS_OPTION_NAMES)[number]

/** `--key-secret` is `HEADGATE_ODIS_KEY_SECRET`. */
export const odisVariableOf = (name: OdisOptionName): string =>
  `HEADGATE_ODIS_${name.toUpperCase().replaceAll('-', '_')}`

/** Where a secret may stand for `--key-secret env:HEADGATE_ODIS_SECRET`. */
export const ODIS_SECRET_VARIABLE = 'HEADGATE_ODIS_SECRET'

export const ODIS_VARIABLES: readonly string[] = [
  ...ODIS_OPTION_NAMES.map(odisVariableOf),
  ODIS_SECRET_VARIABLE,
]
