import { describe, expect, test } from 'vitest'
import { decompress } from '../../../src/store/codec/decompress.ts'
import { decoders } from '../../../src/store/codec/native.ts'

/** Made by zstd(1): `hello\n`, and `world\n` in a frame of its own. */
const HELLO = Buffer.from('KLUv/QRYMQAAaGVsbG8KU4i9kQ==', 'base64')
const WORLD = Buffer.from('KLUv/QRYMQAAd29ybGQKqm5Wnw==', 'base64')

async function read(bytes: Uint8Array): Promise<{ text: string; error: unknown }> {
  let text = ''
  try {
    const open = async function* () {
      yield Uint8Array.from(bytes)
    }
    for await (const part of decompress(open, 'zstd')) text += Buffer.from(part).toString()
  } catch (error) {
    return { text, error }
  }
  return { text, error: null }
}

// Node 20 has no zstd: with Node 22.15 or later these run.
describe.skipIf(decoders.zstd === null)('zstd by the runtime (needs Node 22.15)', () => {
  test('frames in a row are one text', async () => {
    expect(await read(Buffer.concat([HELLO, WORLD]))).toEqual({ text: 'hello\nworld\n', error: null })
  })
  test('damaged, cut or foreign bytes are a bad archive', async () => {
    expect((await read(HELLO.subarray(0, 10))).error).toMatchObject({ code: 'bad-archive' })
    expect((await read(Buffer.from('no archive at all'))).error).toMatchObject({ code: 'bad-archive' })
  })
})

test.runIf(decoders.zstd === null)('without zstd, the answer says what to do', async () => {
  const { error } = await read(HELLO)
  expect(error).toMatchObject({ code: 'unsupported' })
  expect((error as Error).message).toMatch(/Download the file/)
})
