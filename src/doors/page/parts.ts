// What is loaded on first use, as one chunk: shared words compress better than several small ones.
export { Blame } from './config/blame.tsx'
export { Compare } from './config/compare.tsx'
export { History } from './config/history.tsx'
export { Different } from './log/panel/different.tsx'
export { Panel } from './log/panel/panel.tsx'
export { FleetTimeline } from './timeline/fleet-timeline.tsx'
