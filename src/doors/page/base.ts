// This script knows where it came from, and so where the app is mounted: one folder up.
// (In one expression, Vite would take the URL for an asset to bundle.)
const own = import.meta.url

export const base = new URL('..', own)
