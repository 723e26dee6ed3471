/** The runtime's own fetch. Called through a closure: as a method of another object, it is an illegal invocation on Workers. */
export const fetchFromStore = (url: string, init: RequestInit): Promise<Response> => fetch(url, init)
