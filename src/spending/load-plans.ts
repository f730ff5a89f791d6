/** Configured plans from wherever the settings say they are. */

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { systemCode } from '../core/errors.ts'
import type { PlanEntry } from './plan-entry.ts'
import { parsePlans } from './plan-file.ts'
import { PlanError } from './plan-mistake.ts'
import type { PlansSource } from './settings-draft.ts'

/** `folder` is what relative names start from. A named file that is missing is a mistake; the default one is not. */
export const loadPlans = async (
  source: PlansSource,
  folder: string,
): Promise<readonly PlanEntry[]> => {
  switch (source.kind) {
    case 'entries':
      return source.entries
    case 'text':
      return parsePlans(source.text, source.name)
    case 'file': {
      const text = await readPlansFile(resolve(folder, source.path), source.named)
      return text === undefined ? [] : parsePlans(text, source.path)
    }
    default:
      return source satisfies never
  }
}

async function readPlansFile(path: string, named: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'ENOENT' && !named) return undefined
    const rule = 'must be a file that can be read'
    const finding = code === 'ENOENT' ? 'no such file' : code
    const mistake = { code: 'CONFIG_MISSING', thing: path, rule, finding } as const
    throw new PlanError(mistake, undefined, { cause })
  }
}
