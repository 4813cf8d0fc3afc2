// What packages for browsers find as process: a Node.js that is none, as bundlers give it to them.
const none = () => {}
const stream = { isTTY: false, columns: 80, write: () => true, on: none, once: none, end: none }
const chain = function () { return this }
module.exports = {
  title: 'browser',
  browser: true,
  env: {},
  argv: [],
  execArgv: [],
  version: '',
  versions: {},
  platform: 'browser',
  arch: '',
  pid: 1,
  stdin: stream,
  stdout: stream,
  stderr: stream,
  nextTick: (f, ...args) => queueMicrotask(() => f(...args)),
  cwd: () => '/',
  umask: () => 0,
  uptime: () => performance.now() / 1000,
  hrtime: Object.assign(
    (from = [0, 0]) => {
      const ns = Math.round(performance.now() * 1e6) - from[0] * 1e9 - from[1]
      return [Math.floor(ns / 1e9), ns % 1e9]
    },
    { bigint: () => BigInt(Math.round(performance.now() * 1e6)) }
  ),
  memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
  emitWarning: none,
  on: chain,
  once: chain,
  off: chain,
  addListener: chain,
  removeListener: chain,
  removeAllListeners: chain,
  prependListener: chain,
  emit: () => false,
  listeners: () => [],
  listenerCount: () => 0
}
