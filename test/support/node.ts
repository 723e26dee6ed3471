/** A node as its home describes it, for tests that look at each field. */
export const NODE = {
  hostIp: '192.0.2.4',
  hostName: 'db-4',
  grpcPort: 2891,
  httpPort: 3000,
  version: '0.4.1',
  onlineTime: 1767323045000,
}

/** A `node.json` as a shipper writes it, where a test does not care who the node is. */
export const NODE_JSON = JSON.stringify({
  hostIp: '',
  hostName: 'db',
  grpcPort: 1,
  httpPort: 2,
  version: '1',
  onlineTime: 3,
})
