import { useEffect, useRef, useState } from 'preact/hooks'
import icon from '../icon.svg'

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
        <p class="product">
          <img src={icon} alt="" width="34" height="34" />
          <span>
            <strong>nodestate</strong>
            <span class="dim">Logs and configuration of a database node</span>
          </span>
        </p>
        <h1>Sign in with a token</h1>
        <p class="dim">
          Whoever runs this node can give you one. It is shared by the open tabs of this page, and forgotten
          when you close them.
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
