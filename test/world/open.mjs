/**
 * Seeds that fail by a fault which is known and not mended yet, each with the rule that it breaks. Runs name them and go
 * on: any other failure, and any other rule, still fails. Whoever mends a fault deletes its seeds.
 */
export const OPEN = new Map([])
