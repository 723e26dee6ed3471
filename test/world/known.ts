/**
 * Faults of the product that worlds have found and that are not mended yet. Worlds avoid them, so that others show.
 * Whoever mends one deletes its line, and what uses it.
 */
export const KNOWN = {
  /** A follower with a filter that joins between a line and the next one of its record loses that one. */
  noTracesForFilters: true,
  /** Following a file that is empty or not there yet is 501 if its newest rotated file is an archive. */
  unsupportedBesideArchive: true,
}
