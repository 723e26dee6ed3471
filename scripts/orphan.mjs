/**
 * Calls `stop` when the process that started this one is gone. npm runs scripts in a shell, and a shell that is told
 * to end keeps that to itself; `exec` would replace it, but cmd.exe has none. There the parent never changes.
 */
export function whenOrphaned(stop) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, 200)
  timer.unref()
}
