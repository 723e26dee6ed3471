import { describe, expect, it } from 'vitest'
import { SHAPES } from '../../bench/config-shapes.mjs'
import { Budget, BudgetError } from '../../src/kit/limits/budget.ts'
import { redact } from '../../src/mask/redact.ts'
import { maskedConfig, maskedText } from '../../src/node/masked.ts'

const MIB = 1024 * 1024
const spent = () => new Budget({ millis: 0 })

/** Whether a configuration is remembered: only then is it shown to a request that has no time left. */
async function isRemembered(raw: string): Promise<boolean> {
  try {
    await maskedText(raw, spent())
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(BudgetError)
    return false
  }
}

describe('maskedConfig', () => {
  it.each(Object.entries(SHAPES))('shows what is checked, with %s', async (_, make) => {
    const raw = make(32 * 1024)
    const { text } = await maskedConfig(raw)
    expect(redact(raw)).toBe(text)
    expect(await maskedText(text)).toBe(text)
  })

  it('lets others have their turn', async () => {
    let turns = 0
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const raw = SHAPES['many secrets']!(MIB / 2)
    await maskedText(raw)
    isOver = true
    expect(turns).toBeGreaterThan(2)
  })

  it('remembers what it masked, and forgets the oldest beyond 16 MiB', async () => {
    const raw = (i: number) => `# ${i} ${'x'.repeat(MIB - 20)}`
    expect(await isRemembered(raw(0))).toBe(false)
    for (let i = 0; i < 16; i++) await maskedText(raw(i))
    expect(await isRemembered(raw(0))).toBe(true)
    for (let i = 16; i < 20; i++) await maskedText(raw(i))
    expect(await isRemembered(raw(0))).toBe(true)
    expect(await isRemembered(raw(1))).toBe(false)
    expect(await isRemembered(raw(19))).toBe(true)
  })

  it('remembers no failure', async () => {
    await expect(maskedText('a = ')).rejects.toThrow('line 1')
    await expect(maskedText('a = ')).rejects.toThrow('line 1')
  })

  it('goes on while anyone who waits for it has time', async () => {
    const raw = SHAPES['many secrets']!(MIB / 4)
    const controller = new AbortController()
    const left = maskedText(raw, new Budget({ signal: controller.signal }))
    left.catch(() => {})
    const waits = maskedText(raw)
    controller.abort()
    expect(await waits).toBe(redact(raw))
  })

  it('ends when everyone has left', async () => {
    const raw = SHAPES['many secrets']!(MIB / 3)
    const controller = new AbortController()
    const left = maskedText(raw, new Budget({ signal: controller.signal }))
    controller.abort()
    await expect(left).rejects.toThrow(BudgetError)
    expect(await maskedText(raw)).toBe(redact(raw))
  })

  it('counts bytes, not characters', async () => {
    await expect(maskedText(`# ${'é'.repeat(MIB / 2)}`)).rejects.toThrow('more than 1 MiB')
    await expect(maskedText(`# ${'x'.repeat(MIB)}`)).rejects.toThrow('more than 1 MiB')
    expect(await maskedText(`# ${'x'.repeat(MIB - 2)}`)).toHaveLength(MIB)
  })
})
