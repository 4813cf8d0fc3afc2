'use strict'

// importx loads a package that the tool depends on, or a built-in module.
async function importx (name) {
  const own = __require.packages && Object.hasOwn(__require.packages, name) ? __require.packages[name] : undefined
  const found = own ? await own() : __require(String(name))
  const names = found && found.__esModule ? Object.keys(found).filter(k => k !== '__esModule') : []
  return names.length === 1 && names[0] === 'default' ? found.default : found
}

// Tools may also use it as a global, under all names that it has had.
for (const name of ['importx', 'loadModule', 'importModule']) {
  Object.defineProperty(globalThis, name, { value: importx, writable: true, configurable: true })
}

// nodeRuntime describes Node.js, if the tool runs under it.
const nodeRuntime = () => typeof process === 'object' ? { name: 'node', node: process.version } : {}

// Whether bridges answer with their mocks.
let mocking = false

// The bridge that failed last.
let failedBridge

// this.api of a .tool.js, implemented with host calls. Environment, storage and the logger
// return values, which await accepts too; the others return promises.
function api (args, tool) {
  const now = (op, values) => __askNow(op, values || {})
  const later = (op, values) => __ask(op, values || {})
  const about = args.tool || {}

  // ---- logger

  // placed describes an error with its position.
  const placed = e => String(e) + (__where(e) ? ` (${__where(e)})` : '')

  // shown describes a value that is logged with a message.
  function shown (v) {
    if (v === undefined) return ''
    if (v instanceof Error) return ' ' + placed(v)
    const seen = []
    try {
      return ' ' + JSON.stringify(v, function (key, inner) {
        if (typeof inner === 'bigint' || typeof inner === 'function' || typeof inner === 'symbol') return String(inner)
        if (inner instanceof Error) return String(inner)
        if (inner !== null && typeof inner === 'object') {
          while (seen.length > 0 && seen[seen.length - 1] !== this) seen.pop()
          if (seen.includes(inner)) return '[circular]'
          seen.push(inner)
        }
        return inner
      })
    } catch (_) {
      return ' [cannot be shown]'
    }
  }

  function log (level, message, data) {
    const text = (typeof message === 'string' ? message : shown(message).trim()) + shown(data)
    const cut = text.length > 65536 ? text.slice(0, 65536) + '…' : text
    now('log', { level, message: `${new Date().toISOString()} [${level.toUpperCase()}] [${args.tool.id}] ${cut}` })
  }

  const logger = { log: (level, message, data) => log(String(level), message, data), getLogPath: () => now('log.path') }
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal']) logger[level] = (message, data) => log(level, message, data)

  // ---- environment

  const environment = {
    get: name => now('env.get', { name: String(name) }) ?? undefined,
    set: (name, value) => { now('env.set', { values: { [name]: String(value) } }) },
    setAll: values => { now('env.set', { values: Object.fromEntries(Object.entries(values).map(([k, v]) => [k, String(v)])) }) },
    delete: name => { now('env.delete', { names: [String(name)] }) },
    has: name => now('env.get', { name: String(name) }) !== null,
    getAll: () => now('env.all'),
    clear: () => { now('env.delete', {}) }
  }

  // ---- storage: like localStorage, but values keep their types

  const storage = {
    getItem: key => now('storage.get', { key: String(key) }),
    setItem: (key, value) => now('storage.set', { key: String(key), value: value === undefined ? null : value }) ?? true,
    removeItem: key => now('storage.remove', { key: String(key) }),
    clear: () => now('storage.clear') ?? true,
    hasItem: key => storage.keys().includes(String(key)),
    getAll: () => Object.fromEntries(storage.keys().map(key => [key, storage.getItem(key)])),
    getSize: () => new TextEncoder().encode(JSON.stringify(storage.getAll())).length,
    getStoragePath: () => about.sandboxPath ? about.sandboxPath + '/storage.json' : null,
    keys: () => now('storage.keys'),
    key: n => storage.keys()[n] ?? null,
    get length () { return storage.keys().length }
  }

  // ---- bridges: how a tool reaches the outside; a dry run uses their mocks

  const bridge = {
    async execute (op, values) {
      const bridges = typeof tool.getBridges === 'function' ? await tool.getBridges() : {}
      const found = Object.hasOwn(bridges, op) ? bridges[op] : undefined
      if (!found) throw new Error(`the tool has no bridge ${op}; it has: ${Object.keys(bridges).join(', ') || 'none'}`)
      const way = mocking ? 'mock' : 'real'
      if (typeof found[way] !== 'function') throw new Error(`the bridge ${op} has no function named ${way}`)
      try {
        return await found[way].call(tool, values, tool.api)
      } catch (thrown) {
        failedBridge = op
        throw thrown
      }
    }
  }

  return Object.freeze({
    logger: Object.freeze(logger),
    environment: Object.freeze(environment),
    storage: Object.freeze(storage),
    bridge: Object.freeze(bridge),
    toolId: about.id,
    sandboxPath: about.sandboxPath,
    importx,
    callTool: (id, params) => later('callTool', { tool: String(id), params: params || {} }),
    async askModel (prompt, options) {
      if (typeof prompt !== 'string' || prompt === '') throw new TypeError('askModel(prompt, options): prompt must be a text')
      const { systemPrompt, maxTokens } = options || {}
      return later('askModel', { prompt, ...(systemPrompt && { systemPrompt: String(systemPrompt) }), ...(maxTokens !== undefined && { maxTokens: Number(maxTokens) }) })
    },
    async execute (command, list, options) {
      if (typeof command !== 'string' || command === '') throw new TypeError('execute(command, args, options): command must be the name of a program')
      if (!Array.isArray(list ?? [])) throw new TypeError('execute(command, args, options): args must be a list')
      const { cwd, env, timeout, shell } = options || {}
      return later('exec', { command, args: (list || []).map(String), shell: Boolean(shell), ...(cwd && { cwd: String(cwd) }), ...(timeout && { timeout: Number(timeout) }),
        ...(env && { env: Object.fromEntries(Object.entries(env).map(([k, v]) => [k, String(v)])) }) })
    },
    getInfo: () => ({ ...about, runtime: { ...about.runtime, ...nodeRuntime() } }),
    getVersion: () => '2.0.0'
  })
}
