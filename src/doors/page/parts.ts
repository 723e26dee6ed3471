// What is loaded on first use, as one chunk: shared words compress better than several small ones.
export { Blame } from './config/blame.tsx'
export { Compare } from './config/compare.tsx'
export { History } from './config/history.tsx'
export { ChangeNote, Marks } from './config/marks.tsx'
export { Different } from './log/panel/different.tsx'
export { GroupList } from './log/panel/groups.tsx'
export { FleetTimeline } from './timeline/fleet-timeline.tsx'
