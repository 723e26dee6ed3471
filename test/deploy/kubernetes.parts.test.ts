import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseAllDocuments, stringify } from 'yaml'
import { serveFlags } from '../../src/entry/process/arguments.ts'
import { loadSettings } from '../../src/entry/settings.ts'
import { partsFolder } from '../parts/parts.mjs'
import { cleanUp, temporaryDirectory } from '../program.ts'
import { part } from '../support/parts.ts'

// biome-ignore lint/suspicious/noExplicitAny: YAML has no types
type Yaml = any
const kustomize = part('kustomize')
const folder = resolve('deploy/kubernetes')
const overlay = temporaryDirectory()
afterAll(cleanUp)

/** What `kubectl apply -k` would send. */
function render(path: string): Yaml[] {
  const args = ['build', path, '--load-restrictor', 'LoadRestrictionsNone']
  const { status, stdout, stderr } = spawnSync(kustomize.path!, args, { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  return parseAllDocuments(stdout).map((document) => document.toJS())
}

/** A kustomization as somebody else writes it, on top of these. */
function own(name: string, text: object, files: Record<string, Yaml> = {}): string {
  const place = join(overlay, name)
  mkdirSync(place)
  for (const each of ['sidecar', 'fleet']) symlinkSync(join(folder, each), join(place, each))
  for (const [file, document] of Object.entries(files)) writeFileSync(join(place, file), stringify(document))
  writeFileSync(join(place, 'kustomization.yaml'), stringify(text))
  return place
}

const kind = (documents: Yaml[], wanted: string) => documents.find((each) => each.kind === wanted)
const containerOf = (workload: Yaml) =>
  workload.spec.template.spec.containers.find((each: Yaml) => each.name === 'nodestate')

/** The settings that a container starts with. Secrets have a value, and ConfigMaps are those that were rendered. */
async function settingsOf(container: Yaml, documents: Yaml[]) {
  const env: Record<string, string> = {}
  for (const { configMapRef } of container.envFrom ?? []) {
    if (!configMapRef) continue
    const map = documents.find(
      (each) => each.kind === 'ConfigMap' && each.metadata.name === configMapRef.name,
    )
    expect(Boolean(map) || configMapRef.optional, configMapRef.name).toBe(true)
    Object.assign(env, map?.data)
  }
  for (const { name } of container.env ?? []) env[name] = name.endsWith('IP') ? '192.0.2.7' : 'value'
  const readFile = (path: string) => {
    if (path === '/token/token') return 'value'
    throw Object.assign(new Error(path), { code: 'ENOENT' })
  }
  const { settings, warnings } = await loadSettings({ flags: serveFlags(container.args), env, readFile })
  expect(warnings).toEqual([])
  return settings
}

/** Whether Kubernetes knows the kind and takes its fields, and what refers to what is there. */
async function lint(documents: Yaml[]): Promise<void> {
  const models = join(partsFolder, 'long/node_modules/kubernetes-models')
  for (const document of documents) {
    const { [document.kind]: Model } = await import(join(models, document.apiVersion, 'index.js'))
    new Model(document).validate()
    const pod = document.spec?.template?.spec
    if (!pod) continue
    expect(document.spec.template.metadata.labels).toMatchObject(document.spec.selector.matchLabels)
    const volumes = [...(pod.volumes ?? []), ...(document.spec.volumeClaimTemplates ?? [])].map(
      (volume: Yaml) => volume.name ?? volume.metadata.name,
    )
    for (const { volumeMounts = [], ports = [], livenessProbe } of pod.containers) {
      for (const { name } of volumeMounts) expect(volumes).toContain(name)
      if (livenessProbe) expect(ports.map(({ name }: Yaml) => name)).toContain(livenessProbe.httpGet.port)
    }
    const { securityContext, volumeMounts = [] } = containerOf(document)
    for (const mount of volumeMounts) expect(mount.readOnly, mount.name).toBe(true)
    expect(securityContext).toMatchObject({
      runAsNonRoot: true,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(containerOf(document).livenessProbe.httpGet.path).toBe('/healthz')
  }
}

describe.skipIf(kustomize.missing)(
  `deploy/kubernetes${kustomize.missing ? ` (${kustomize.missing})` : ''}`,
  () => {
    it('database: the sidecar is the last container of each pod, which has a name of its own', async () => {
      const documents = render(join(folder, 'database'))
      await lint(documents)
      const set = kind(documents, 'StatefulSet')
      expect(set.spec.template.spec.containers.map(({ name }: Yaml) => name)).toEqual(['db', 'nodestate'])
      expect(await settingsOf(containerOf(set), documents)).toMatchObject({
        logs: '/logs',
        config: '/config/broker.toml',
        port: 9000,
        token: 'value',
      })
      // A readiness probe would take the database out of its Service.
      expect(containerOf(set).readinessProbe).toBeUndefined()
      const service = kind(documents, 'Service')
      expect([service.spec.clusterIP, service.metadata.name]).toEqual(['None', set.spec.serviceName])
      expect(set.spec.template.metadata.labels).toMatchObject(service.spec.selector)
      expect(service.spec.ports[0].targetPort).toBe('nodestate')
      expect(kind(documents, 'NetworkPolicy').spec).toMatchObject({
        policyTypes: ['Ingress'],
        podSelector: { matchLabels: service.spec.selector },
      })
    })

    it('sidecar: goes to the StatefulSets that are labelled, and to no other', async () => {
      const set = (name: string, labels: object) => ({
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name, labels },
        spec: {
          serviceName: name,
          selector: { matchLabels: { app: name } },
          template: {
            metadata: { labels: { app: name } },
            spec: {
              containers: [{ name: 'main', image: 'db:1' }],
              volumes: [{ name: 'logs', emptyDir: {} }],
            },
          },
        },
      })
      const text = { resources: ['a.yaml', 'b.yaml'], components: ['sidecar'] }
      const files = { 'a.yaml': set('a', { nodestate: 'sidecar' }), 'b.yaml': set('b', { other: 'x' }) }
      const documents = render(own('pods', text, files))
      const [a, b] = documents
      await lint([a])
      expect(await settingsOf(containerOf(a), documents)).toMatchObject({ logs: '/logs', token: 'value' })
      expect(a.spec.template.spec.containers).toHaveLength(2)
      expect(b.spec.template.spec.containers).toHaveLength(1)
    })

    it("fleet: shows the bucket that somebody's own kustomization names", async () => {
      const map = {
        name: 'nodestate-fleet',
        behavior: 'merge',
        literals: ['NODESTATE_FLEET=s3://my-logs/prod'],
      }
      const documents = render(own('all', { resources: ['fleet'], configMapGenerator: [map] }))
      await lint(documents)
      const deployment = kind(documents, 'Deployment')
      expect(await settingsOf(containerOf(deployment), documents)).toMatchObject({
        fleet: 's3://my-logs/prod',
        host: '0.0.0.0',
        port: 9000,
        token: 'value',
      })
      expect(containerOf(deployment).readinessProbe.httpGet.path).toBe('/readyz')
      const { spec } = kind(documents, 'Service')
      expect(deployment.spec.template.metadata.labels).toMatchObject(spec.selector)
      expect(kind(documents, 'NetworkPolicy').spec.podSelector.matchLabels).toEqual(spec.selector)
    })

    it('cluster: asks the pods of the database, and may reach them', async () => {
      const documents = render(join(folder, 'cluster'))
      await lint(documents.filter((document: Yaml) => document.kind === 'Deployment'))
      const deployment = kind(documents, 'Deployment')
      const container = containerOf(deployment)
      const settings = await settingsOf(container, documents)
      expect(settings).toMatchObject({ fleet: null, token: 'value', peerTokenFile: '/token/token' })
      const database = render(join(folder, 'database'))
      expect(new URL(settings.peersFrom!).hostname.split('.')[0]).toBe(
        kind(database, 'Service').metadata.name,
      )
      expect(container.volumeMounts).toEqual([{ name: 'token', mountPath: '/token', readOnly: true }])
      const policy = documents.find((document: Yaml) => document.metadata.name === 'nodestate-peers')
      expect(policy.spec.podSelector.matchLabels).toEqual(kind(database, 'Service').spec.selector)
    })

    it('daemonset.yaml: one per host, read-only, its token in a file', async () => {
      const [daemon] = parseAllDocuments(readFileSync(join(folder, 'daemonset.yaml'), 'utf8')).map((each) =>
        each.toJS(),
      )
      await lint([daemon])
      expect(await settingsOf(containerOf(daemon), [])).toMatchObject({ logs: '/logs', token: 'value' })
    })
  },
)
