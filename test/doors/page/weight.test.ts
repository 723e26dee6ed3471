import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { assets as page } from '../../../src/doors/page/assets.js'

describe('the built page', () => {
  const files = Object.entries(page.assets)
  const bytes = (name: string) => Buffer.from(page.assets[name]!.gzip, 'base64')

  it('weighs at most 75 KB, compressed, when a log is first shown', () => {
    // Panels and regular expressions are loaded when they are first used.
    const first = files.filter(([name]) => !/^(spans|parts)-/.test(name))
    const all = first.reduce((sum, [name]) => sum + bytes(name).length, Buffer.byteLength(page.html))
    expect(all).toBeGreaterThan(10_000)
    expect(all).toBeLessThanOrEqual(75_000)
  })

  it('holds what it says', () => {
    for (const [name, { size }] of files) expect(gunzipSync(bytes(name)).length, name).toBe(size)
    const named = [...page.html.matchAll(/"\.\/assets\/([^"]+)"/g)].map((match) => match[1]!)
    expect(named.length).toBeGreaterThanOrEqual(3)
    for (const name of named) expect(Object.keys(page.assets)).toContain(name)
  })

  it('has a hash in every name, no inline code, and knows no other host', () => {
    for (const [name] of files) expect(name).toMatch(/-[\w-]{8}\.(js|css|svg)$/)
    expect(page.html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|style=/)
    expect(page.html).not.toMatch(/https?:/)
  })

  it('names no file that it was built from', () => {
    for (const [name] of files) expect(gunzipSync(bytes(name)).toString(), name).not.toMatch(/\.tsx|__source/)
  })
})
