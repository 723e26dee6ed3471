import { useRemembered } from '../../ui/store.ts'
import { type Look, NOWHERE, writeLook } from '../../url.ts'

/** A search with a name, as the fragment of an address: a link to it shows a colleague the same. */
export interface SavedSearch {
  name: string
  hash: string
}

/** The searches that were saved in this browser, those of a fleet's logs apart; by name. */
export function useSearches(isFleet: boolean) {
  const [text, setText] = useRemembered(isFleet ? 'fleet-searches' : 'searches', '[]')
  const all = readSearches(text)
  const set = (next: SavedSearch[]) => setText(JSON.stringify(next))
  const without = (name: string) => all.filter((each) => each.name !== name)
  return {
    all,
    /** False if there are too many already. A search of the same name is replaced. */
    save(name: string, look: Look): boolean {
      const rest = without(name)
      if (rest.length >= MOST) return false
      set([...rest, { name, hash: searchHash(look) }].sort((a, b) => (a.name < b.name ? -1 : 1)))
      return true
    },
    remove: (name: string) => set(without(name)),
  }
}

/** What is searched for, without the place in it. An age such as the last hour stays one. */
export function searchHash(look: Look): string {
  return writeLook({ ...look, ...NOWHERE, different: '', size: 0 })
}

/** What the browser has kept may be from another version, or of somebody's making. */
export function readSearches(text: string): SavedSearch[] {
  try {
    const found: unknown = JSON.parse(text)
    return (Array.isArray(found) ? found : []).filter(
      (each) => typeof each?.name === 'string' && typeof each.hash === 'string' && each.hash[0] === '#',
    )
  } catch {
    return []
  }
}

const MOST = 50
