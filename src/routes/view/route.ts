import type { LogFiles } from '../../log/files/files.ts'
import type { Followers } from '../../log/follow/followers.ts'
import type { Query } from '../parameters/read.ts'
import type { QueryRoute } from '../parameters/view-request.ts'

export interface ViewRoute {
  files: LogFiles
  /** The largest tail that may be requested. @default none: a tail streams in constant memory */
  maxSize?: number | undefined
  /** Answers everything but the plain tail; loaded on first use. */
  queryView(request: Request, query: Query): Promise<Response>
}

export interface QueryViewRoute extends QueryRoute {
  /** The following clients; null if following is off. */
  followers: Followers | null
}
