/**
 * Configurations that are hard to mask, each as a function of how many bytes it should have. Together they hold what
 * a comment, a string, a key and a table can be, many times over.
 */
export const SHAPES = {
  'many secrets': (bytes) => lines(bytes, (i) => `[a${i}]\npassword = "${random(i)}"\nport = ${i % 65536}\n`),
  'secrets that are repeated in comments': (bytes) =>
    lines(
      bytes,
      (i) => `[a${i}]\npassword = "${random(i)}"\n# Default: ${random(i)}\nurl = "http://h/${random(i)}"\n`,
    ),
  'short secrets in comments': (bytes) =>
    lines(bytes, (i) => `s${i}.password = "w${i % 997}"\n# was w${i % 991} or "w${(i * 7) % 997}", see w\n`),
  'settings in comments': (bytes) =>
    lines(bytes, (i) => `# [a${i}]\n# token = "${random(i)}"\n# port = ${i}\n`),
  'lists in comments': (bytes) =>
    lines(bytes, (i) => `# tokens = [\n#   "${random(i)}",\n#   "b${i}"\n# ]\n`),
  'prose in comments': (bytes) =>
    lines(
      bytes,
      (i) => `# The broker's password is kept elsewhere: see section ${i}, key = value.\na${i} = ${i}\n`,
    ),
  'URLs with passwords': (bytes) =>
    lines(bytes, (i) => `u${i} = "postgres://user:${random(i)}@host:5432/db"\n`),
  'one string of URLs': (bytes) =>
    around(
      'a = "',
      lines(bytes, (i) => `http://u${i}:p${i}@h/ `),
      '"\n',
    ),
  'one string of pairs': (bytes) =>
    around(
      'a = "',
      lines(bytes, (i) => `token=${random(i)}&b=${i};`),
      '"\n',
    ),
  'one string with escapes': (bytes) =>
    around(
      'a = "',
      lines(bytes, (i) => `\\u0070assword=${random(i)}\\n`),
      '"\n',
    ),
  'one string of letters': (bytes) => around('a = "', 'a'.repeat(bytes), '"\n'),
  'one secret string': (bytes) => around('password = "', 'a1'.repeat(bytes / 2), '"\n# a1a1a1a1a1\n'),
  'one multi-line string': (bytes) =>
    around(
      'a = """\n',
      lines(bytes, (i) => `key-${i}: password = '${random(i)}'\n`),
      '"""\n',
    ),
  'one secret of many lines': (bytes) =>
    around(
      'password = """\n',
      lines(bytes, (i) => `${random(i)}\n`),
      '"""\n# x\n',
    ),
  'one list': (bytes) =>
    around(
      'passwords = [',
      lines(bytes, (i) => `"${random(i)}", `),
      ']\n',
    ),
  'one list of commands': (bytes) =>
    around(
      'a = [',
      lines(bytes, (i) => `"--password", "${random(i)}", "-u", "a:b${i}",`),
      ']\n',
    ),
  'one line of inline tables': (bytes) =>
    around(
      'a = [',
      lines(bytes, (i) => `{ name = "DB_PASSWORD", value = "${random(i)}" },`),
      ']\n',
    ),
  'one comment': (bytes) =>
    around(
      '# ',
      lines(bytes, (i) => `password=${random(i)} -p x${i}: `),
      '\n',
    ),
  'one comment of signs': (bytes) => around('# ', '://:@=-"'.repeat(bytes / 8), '\n'),
  'arrays of tables': (bytes) =>
    lines(bytes, (i) => `[[env]]\nname = "DB_PASSWORD"\nvalue = "${random(i)}"\n`),
  'deep tables': (bytes) => around('[', 'a.'.repeat(bytes / 2 - 1000), 'a]\npassword = "x1y2z3w4"\n'),
  'dotted keys': (bytes) => lines(bytes, (i) => `a.b.c${i}.d.e."f g".token = "${random(i)}"\n`),
  'long keys': (bytes) => lines(bytes, (i) => `${'kw_'.repeat(100)}${i}_password = "${random(i)}"\n`),
  'private keys': (bytes) =>
    lines(
      bytes,
      (i) =>
        `a${i} = """\n-----BEGIN PRIVATE KEY-----\n${random(i)}\n-----END PRIVATE KEY-----\n"""\n# -----BEGIN PRIVATE KEY-----\n# ${random(i)}\n`,
    ),
  'nested secrets': (bytes) =>
    lines(bytes, (i) => `p${i}.password = "${'a'.repeat(i % 500)}b"\n# ${'a'.repeat(50)}\n`),
  'begin marks': (bytes) => around('# ', '-----BEGIN PRIVATE KEY-----'.repeat(bytes / 27), '\n'),
  'numbers that are secrets': (bytes) =>
    around(
      'passwords = [',
      lines(bytes, (i) => `${i % 10},`),
      ']\n',
    ),
  'keys without a value': (bytes) => around('a = "', 'key='.repeat(bytes / 4), '"\n'),
  'queries without a value': (bytes) => around('a = "', '?key='.repeat(bytes / 5), '"\n'),
  'tokens without an end': (bytes) => around('a = "', '-eyJ'.repeat(bytes / 4), '"\n'),
  'commands without an end': (bytes) => around('# ', 'curl -u '.repeat(bytes / 8), '\n'),
  'options without a command': (bytes) => around('# ', 'xcurl -u a:b '.repeat(bytes / 13), '\n'),
  'strings without an end': (bytes) => lines(bytes, () => `# a = "\n# b = '\n# c = '''\n# d = "\\"\n`),
  numbers: (bytes) =>
    lines(bytes, (i) => `a${i} = [${i}, 0x${i.toString(16)}, 1.5, true, 2026-01-02 03:04:05]\n`),
  'empty lines': (bytes) => `${'\n'.repeat(bytes - 2)}#\n`,
}

function lines(bytes, line) {
  const parts = []
  for (let i = 0, length = 0; length < bytes - 600; i++) {
    const next = line(i)
    parts.push(next)
    length += next.length
  }
  return parts.join('')
}

const around = (before, text, after) => before + text + after

/** 24 letters and digits that are the same for the same number. */
function random(i) {
  let state = i + 1
  let text = ''
  while (text.length < 24) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    text += (state >>> 4).toString(36)
  }
  return text.slice(0, 24)
}
