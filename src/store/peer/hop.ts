/** Marks the requests of a coordinator: a peer answers them from its own logs only. */
export const HOP = 'X-Nodestate-Hop'
