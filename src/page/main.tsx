import { render } from 'preact'
import { createClient } from '../client.ts'
import { App } from './app.tsx'
import './style/all.css'
import { base } from './base.ts'
import { token } from './session/token.ts'

const clientAt = (url: URL) => createClient({ base: url, token: () => token.get() })

// A node of a fleet is mounted at nodes/ID/ below the fleet.
const id = /\/nodes\/([^/]+)\/$/.exec(base.pathname)?.[1]
const fleet =
  id === undefined ? null : { client: clientAt(new URL('../../', base)), own: decodeURIComponent(id) }

const page = document.getElementById('page')!
render(<App client={clientAt(base)} fleet={fleet} root={page.dataset.fleet !== undefined} />, page)
