import { createHash, webcrypto } from 'node:crypto'

/** `crypto` whose digests come at once: those of the runtime come from another thread, whose time no seed decides. */
export const synchronousCrypto = {
  randomUUID: () => webcrypto.randomUUID(),
  getRandomValues: (bytes: Uint8Array) => webcrypto.getRandomValues(bytes),
  subtle: {
    digest: async (_: 'SHA-256', bytes: Uint8Array): Promise<ArrayBuffer> => {
      const digest = createHash('sha256').update(bytes).digest()
      return new Uint8Array(digest).buffer
    },
  },
}
