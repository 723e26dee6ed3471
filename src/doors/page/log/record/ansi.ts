/** A text without the escapes of terminals and other control characters, but for tab and line feed. */
export function withoutEscapes(text: string): string {
  return CONTROL.test(text) ? text.replace(ESCAPE, '') : text
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/

// CSI · OSC, DCS, PM, APC, SOS up to their end · two-character escapes · stray controls
const ESCAPE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /(?:\u001b\[|\u009b)[\u0030-\u003f]*[\u0020-\u002f]*[\u0040-\u007e]?|\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[\u0020-\u002f]*[\u0030-\u007e]?|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g
