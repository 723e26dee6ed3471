import { useSearches } from '../log/bar/searches.ts'

/** The searches that were saved in this browser, as links. */
export function SavedLinks({ isFleet }: { isFleet: boolean }) {
  const { all } = useSearches(isFleet)
  if (all.length === 0) return null
  return (
    <>
      <h2>Saved searches</h2>
      <ul class="files searches">
        {all.map(({ name, hash }) => (
          <li key={name}>
            <a href={hash}>{name}</a>
          </li>
        ))}
      </ul>
    </>
  )
}
