/** What stands in place of every secret: always the same, so that its length tells nothing. */
export const MASK = '********'
