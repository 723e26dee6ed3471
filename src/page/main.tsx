import { render } from 'preact'
import { createClient } from '../client.ts'
import { App } from './app.tsx'
import './style/all.css'
import { token } from './ui/token.ts'

// This script knows where it came from, and so where the app is mounted: one folder up.
// (In one expression, Vite would take the URL for an asset to bundle.)
const own = import.meta.url
const client = createClient({ base: new URL('..', own), token: () => token.get() })

render(<App client={client} />, document.getElementById('page')!)
