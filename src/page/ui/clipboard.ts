/** Copies a text and says so, or says that it cannot be. */
export async function put(text: string, say: (message: string) => void, done: string): Promise<void> {
  try {
    if (navigator.clipboard === undefined) throw new Error('no clipboard')
    await navigator.clipboard.writeText(text)
    say(done)
  } catch {
    // Without TLS there is no clipboard API beyond localhost: the old way, from a field that is gone at once.
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
