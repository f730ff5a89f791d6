import { expect, test } from 'vitest'
import { mistakeOf } from '../../test/support/mistake-of.ts'
import { checkSecretFile, type SecretFileWarning } from './secret-file.ts'

/** A regular file in `stat`: the kind is above the nine bits. */
const REGULAR = 0o100000

const warningsFor = (mode: number): readonly SecretFileWarning[] => {
  const warnings: SecretFileWarning[] = []
  checkSecretFile('/run/secret', { mode: REGULAR | mode }, (warning) => warnings.push(warning))
  return warnings
}

test('a file for its owner alone passes, whatever the owner may do with it', () => {
  for (const mode of [0o600, 0o400, 0o700, 0o611]) expect(warningsFor(mode)).toEqual([])
})

test('a file that a group may read gets one warning, with its path, the rule and its mode', () => {
  expect(warningsFor(0o640)).toEqual([
    {
      code: 'KEY_FILE_SHARED',
      thing: 'file /run/secret',
      rule: 'should be readable by its owner only (chmod 600)',
      finding: 'mode 640',
    },
  ])
  expect(warningsFor(0o440)).toHaveLength(1)
})

test('a file that all may read, or a group or others may write, is refused', () => {
  for (const mode of [0o644, 0o604, 0o444, 0o666, 0o660, 0o620, 0o602, 0o777]) {
    expect(mistakeOf(() => warningsFor(mode))).toMatchObject({
      code: 'KEY_FILE_EXPOSED',
      thing: 'file /run/secret',
      finding: `mode ${mode.toString(8)}`,
    })
  }
})

test('a folder passes: reading it as a file fails by itself', () => {
  checkSecretFile('/run/secret', { mode: 0o040755 })
})

test('the listener is optional', () => {
  checkSecretFile('/run/secret', { mode: 0o640 })
})
