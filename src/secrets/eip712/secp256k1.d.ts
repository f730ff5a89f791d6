/** The part of the secp256k1 package that is used here; it ships no types of its own. */
declare module 'secp256k1' {
  const secp256k1: {
    ecdsaRecover(
      signature: Uint8Array,
      recovery: number,
      message: Uint8Array,
      compressed: boolean,
    ): Uint8Array
    publicKeyVerify(key: Uint8Array): boolean
  }
  export = secp256k1
}
