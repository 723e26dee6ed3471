/** Copies a text and confirms it, or says that it failed. */
export async function put(text: string, say: (message: string) => void, done: string): Promise<void> {
  try {
    if (navigator.clipboard === undefined) throw new Error('no clipboard')
    await navigator.clipboard.writeText(text)
    say(done)
  } catch {
    // Without TLS there is no clipboard API beyond localhost: use the old way, from a temporary field.
    const field = document.createElement('textarea')
    field.value = text
    field.className = 'offscreen'
    document.body.append(field)
    field.select()
    const copied = document.execCommand('copy')
    field.remove()
    say(copied ? done : 'The browser does not allow copying here')
  }
}
