import { render } from 'preact'
import { App } from './app.tsx'
import './style/all.css'
import { base } from './base.ts'
import { clientAt } from './session/client-at.ts'

// A node of a fleet is mounted at nodes/ID/ below the fleet.
const id = /\/nodes\/([^/]+)\/$/.exec(base.pathname)?.[1]
const fleet =
  id === undefined ? null : { client: clientAt(new URL('../../', base)), own: decodeURIComponent(id) }

const page = document.getElementById('page')!
const has = (mark: string) => page.dataset[mark] !== undefined
render(<App client={clientAt(base)} fleet={fleet} root={has('fleet')} sample={has('sample')} />, page)
