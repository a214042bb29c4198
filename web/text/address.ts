/** An address of a Verus chain. */
export const ADDRESS = /^[bRi][1-9A-HJ-NP-Za-km-z]{33}$/;
