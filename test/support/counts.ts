/**
 * How often the same test repeats: `npm test` runs a sample, `npm run prove` the full count.
 * Both run the same code; only this number differs.
 */
const proving = process.env['HEADGATE_PROVE'] === '1'

export const times = (sample: number, full: number): number => (proving ? full : sample)
