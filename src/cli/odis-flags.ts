/** Flags that the commands of signers share. */
import { ODIS_OPTION_NAMES } from '../server/odis/option-names.ts'
import type { OdisFlags } from '../server/odis/signer-options.ts'
import type { Flag } from './command.ts'
import type { FlagValues } from './flag-values.ts'

export const KEY_FLAGS: readonly Flag[] = [
  { name: 'keys', value: 'DIR', summary: 'The key directory, one encrypted file a version.' },
  {
    name: 'key-secret',
    value: 'SOURCE',
    summary: 'What encrypts the keys: file:PATH, env:NAME or command:WORDS.',
  },
]

/** Of the flags that were given, those that are settings of a signer. */
export const odisFlags = (flags: FlagValues): OdisFlags =>
  Object.fromEntries(
    ODIS_OPTION_NAMES.flatMap((name) => {
      const text = flags.text(name)
      return text === undefined ? [] : [[name, text]]
    }),
  )
