/** A strict reader of RFC 4180: CR LF after every row, no loose quotes, as many cells in each row. */
export function readCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  for (let at = 0; at < text.length; ) {
    let cell = ''
    if (text[at] === '"') {
      for (at++; ; at++) {
        if (at >= text.length) throw new Error('a quoted cell does not end')
        if (text[at] !== '"') cell += text[at]
        else if (text[at + 1] === '"') cell += text[at++]
        else break
      }
      at++
    } else {
      const border = /[",\r\n]|$/g
      border.lastIndex = at
      const end = border.exec(text)!.index
      cell = text.slice(at, end)
      at = end
    }
    row.push(cell)
    if (text[at] === ',') {
      at++
      // A comma before the end of a row is followed by an empty cell.
      if (text.startsWith('\r\n', at)) row.push('')
      else continue
    }
    if (!text.startsWith('\r\n', at)) throw new Error(`no end of a row at ${at}: ${text.slice(at, at + 20)}`)
    at += 2
    rows.push(row)
    row = []
  }
  if (row.length > 0) throw new Error('the last row does not end')
  for (const each of rows) if (each.length !== rows[0]!.length) throw new Error('rows differ in length')
  return rows
}

/** A table as objects. */
export function csvRecords(text: string): Record<string, string>[] {
  const [head, ...rows] = readCsv(text)
  return rows.map((row) => Object.fromEntries(row.map((cell, i) => [head![i]!, cell])))
}
