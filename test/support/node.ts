/** A `node.json` as a shipper writes it, where a test does not care who the node is. */
export const NODE_JSON = JSON.stringify({
  hostIp: '',
  hostName: 'db',
  grpcPort: 1,
  httpPort: 2,
  version: '1',
  onlineTime: 3,
})
