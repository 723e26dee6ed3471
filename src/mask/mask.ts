/** Replaces every secret: always the same, so that its length reveals nothing. */
export const MASK = '********'
