/** The package's version; a test holds it equal to package.json, which the core cannot read on every runtime. */
export const VERSION = '0.1.0'
