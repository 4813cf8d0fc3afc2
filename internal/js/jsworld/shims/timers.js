// The modules timers and timers/promises of Node.js.
const wait = (ms, value, options) => new Promise((resolve, reject) => {
  const signal = options?.signal
  if (signal?.aborted) return reject(signal.reason)
  const id = setTimeout(() => resolve(value), ms)
  signal?.addEventListener('abort', () => { clearTimeout(id); reject(signal.reason) })
})

module.exports = { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate, promises: { setTimeout: wait, setImmediate: value => new Promise(resolve => setImmediate(() => resolve(value))) } }
