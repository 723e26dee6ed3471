/** `[Broker] [Runtime]: ` before the message; spaces may be missing, or more. */
export const TAGS = /^((?:[ ]*\[[^\]\n]*\])+)[ ]*:[ ]?/

/** The names in `[Broker] [Runtime]`. */
export function tagNames(text: string): string[] {
  const names = text.slice(text.indexOf('[') + 1, -1).split(/\][ ]*\[/)
  return names.map((name) => name.trim()).filter((name) => name !== '')
}
