import { useEffect, useRef, useState } from 'preact/hooks'

/** Asks for the API token. It stays in this page's memory and in request headers, nowhere else. */
export function SignIn({ refused, enter }: { refused: boolean; enter: (token: string) => void }) {
  const [value, setValue] = useState('')
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  return (
    <main class="signin">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (value.trim() !== '') enter(value.trim())
        }}
      >
        <h1>This node needs a token</h1>
        <p>
          Ask the person who runs the node for it. Open tabs of this page share it, and it is forgotten when
          you close them.
        </p>
        <label for="token">Token</label>
        <div class="field">
          <input
            id="token"
            ref={input}
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={value}
            aria-invalid={refused}
            aria-describedby={refused ? 'refused' : undefined}
            onInput={(event) => setValue(event.currentTarget.value)}
          />
          <button type="submit" class="primary">
            Sign in
          </button>
        </div>
        {refused && (
          <p id="refused" class="refused" role="alert">
            The node did not accept this token. Check it and try again.
          </p>
        )}
      </form>
    </main>
  )
}
