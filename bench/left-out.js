/** Why a variant cannot be measured here. Thrown by `prepare`; the report shows it in place of a row. */
export class LeftOut extends Error {
  name = 'LeftOut'
}
