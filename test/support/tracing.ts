import { spawnSync } from 'node:child_process'

/** Linux alone has strace, and a container may forbid it. */
export const canTrace = spawnSync('strace', ['-e', 'trace=none', 'true']).status === 0
