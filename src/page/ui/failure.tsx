import { ProblemError, UnreachableError } from '../../client.ts'

/** What went wrong and what the reader can do about it. */
export function Failure({ error, retry, what }: { error: Error; retry?: () => void; what?: string }) {
  const { title, advice } = explain(error)
  return (
    <div class="failure" role="alert">
      <p class="title">{what === undefined ? title : `${what}: ${lower(title)}`}</p>
      <p>{advice}</p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )
}

export function explain(error: Error): { title: string; advice: string } {
  if (error instanceof ProblemError) return { title: error.title, advice: error.message }
  if (error instanceof UnreachableError) return { title: 'The node does not answer', advice: error.message }
  return {
    title: 'Something failed in this page',
    advice: `${error.message} Reload the page to begin again.`,
  }
}

function lower(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
