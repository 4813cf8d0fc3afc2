// The global timer functions.
const { setTimer, clearTimer } = __lent()
const timer = repeat => (f, ms, ...args) => {
  if (typeof f !== 'function') throw new TypeError('the first argument of a timer must be a function')
  return setTimer(() => f(...args), Math.max(1, Number(ms) || 0), repeat)
}
const clear = id => clearTimer(Number(id) || 0)

exports.setTimeout = timer(false)
exports.setInterval = timer(true)
exports.setImmediate = (f, ...args) => exports.setTimeout(f, 0, ...args)
exports.clearTimeout = exports.clearInterval = exports.clearImmediate = clear
exports.queueMicrotask = f => { Promise.resolve().then(() => f()) }
