/** `{Name}`, `{@Name}`, `{Name,10:0.00}`; `{{` and `}}` are braces. */
const HOLE = /\{\{|\}\}|\{([@$]?)(\w+)(?:,-?\d+)?(:[^{}]*)?\}/g

/**
 * Serilog's message: its template with the values put in. `renderings` are those of the holes with a format, in order.
 * A hole without a value stays as it is.
 */
export function filledTemplate(
  template: string,
  members: Record<string, unknown>,
  renderings: readonly unknown[] = [],
): string {
  let next = 0
  return template.replace(HOLE, (hole, _, name: string | undefined, format: string | undefined) => {
    if (name === undefined) return hole[0]!
    const rendered = format === undefined ? undefined : renderings[next++]
    if (typeof rendered === 'string') return rendered
    if (!Object.hasOwn(members, name)) return hole
    const value = members[name]
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}
