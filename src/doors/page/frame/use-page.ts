import { useEffect, useRef, useState } from 'preact/hooks'
import { takesText, useListener } from '../ui/listener.ts'
import { useRemembered } from '../ui/store.ts'

/** The colours: `auto`, `light` or `dark`, kept in the browser. */
export function useTheme() {
  const [theme, setTheme] = useRemembered('theme', 'auto')
  useEffect(() => {
    document.documentElement.dataset.theme = theme
  }, [theme])
  return [theme, setTheme] as const
}

/** A sentence at the foot of the page, for a few seconds. */
export function useToast() {
  const [said, setSaid] = useState('')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const say = (message: string) => {
    setSaid(message)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setSaid(''), 3500)
  }
  return { said, say }
}

/** Keys that work everywhere: help, and the field to search in. */
export function usePageKeys(showHelp: () => void): void {
  useListener(document, 'keydown', (event: KeyboardEvent) => {
    const from = event.target as HTMLElement
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (takesText(from) || from.closest('dialog') !== null) return
    if (event.key === '?') showHelp()
    else if (event.key === '/') {
      const field = document.querySelector<HTMLInputElement>('[data-find]')
      if (field === null) return
      event.preventDefault()
      field.focus()
      field.select()
    }
  })
}
