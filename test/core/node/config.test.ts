import { describe, expect, it } from 'vitest'
import { MASK } from '../../../src/core/mask/redact.ts'
import { ConfigError, createConfigReader } from '../../../src/core/node/config.ts'

describe('createConfigReader', () => {
  it('gives the masked text and the data', async () => {
    const config = await createConfigReader('# c\r\npassword = "hunter2"\r\n[http]\r\nport = 9000\r\n').read()
    expect(config.text).toBe(`# c\r\npassword = "${MASK}"\r\n[http]\r\nport = 9000\r\n`)
    expect(config.data).toEqual({ password: 'hunter2', http: { port: 9000 } })
  })

  it('asks the source every time and works only when the text changed', async () => {
    let text = 'a = 1'
    let asked = 0
    const reader = createConfigReader(async () => {
      asked++
      return text
    })
    const one = await reader.read()
    const two = await reader.read()
    expect(asked).toBe(2)
    expect(two).toBe(one)
    text = 'a = 2'
    const three = await reader.read()
    expect(three.data).toEqual({ a: 2 })
    text = 'a = 1'
    expect(await reader.read()).toEqual(one)
  })

  it('shares the work between concurrent calls', async () => {
    const reader = createConfigReader(async () => 'a = 1')
    const [one, two] = await Promise.all([reader.read(), reader.read()])
    expect(two).toBe(one)
  })

  it('recovers from a text that was broken', async () => {
    let text = 'a ='
    const reader = createConfigReader(() => text)
    await expect(reader.read()).rejects.toThrow(ConfigError)
    await expect(reader.read()).rejects.toThrow(ConfigError)
    text = 'a = 1'
    expect((await reader.read()).text).toBe('a = 1')
  })

  it('passes on what the source throws', async () => {
    const failure = new Error('gone')
    const reader = createConfigReader(() => Promise.reject(failure))
    await expect(reader.read()).rejects.toBe(failure)
  })

  it('keeps what others refuse: a byte order mark, large integers, TOML 1.1', async () => {
    const text =
      '\ufeffbig = 9223372036854775807\nt = {\n  a = "\\e\\x41",\n}\nd = 2024-01-01\nf = nan\ntoken = "x"\n'
    const config = await createConfigReader(text).read()
    expect(config.text).toBe(text.replace('"x"', `"${MASK}"`))
    expect(config.data.big).toBe(9223372036854775807n)
  })

  it('takes an empty text', async () => {
    expect(await createConfigReader('').read()).toMatchObject({ text: '', data: {} })
  })

  it.each([
    ['a = 1\nb = 2\npassword = hunter2\n', 3, 12],
    ['password = "hunter2', 1, 12],
    ['password = "hunter2"\npassword = "hunter2"', 2, 1],
    ['[hunter2', 1, 2],
    ['a = "\\hunter2"', 1, 7],
    ['# x\r\na = [1, hunter2]', 2, 9],
    [`a = ${'['.repeat(5000)}`, 1, null],
    ['a = 1 \u0000 hunter2', 1, 7],
    ['hunter2\n', 1, null],
  ])('tells where %j is broken, and nothing else', async (text, line, column) => {
    const error = await createConfigReader(text)
      .read()
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ConfigError)
    const thrown = error as ConfigError
    expect(thrown.line).toBe(line)
    if (column !== null) expect(thrown.column).toBe(column)
    expect(thrown.message).toBe(
      `The configuration is not valid TOML at line ${thrown.line}, column ${thrown.column}; fix it there.`,
    )
    expect(thrown.cause).toBeUndefined()
    expect(JSON.stringify([thrown, thrown.stack, String(thrown), Object.entries(thrown)])).not.toContain(
      'hunter',
    )
  })
})
