// The global timer functions. A call ends when its result is there, so no timer keeps it from ending: ref and unref
// change nothing.
const { setTimer, clearTimer } = __lent()

class Timeout {
  #start
  #id
  #kept = true
  constructor (start) {
    this.#start = start
    this.#id = start()
  }

  ref () { this.#kept = true; return this }
  unref () { this.#kept = false; return this }
  hasRef () { return this.#kept }
  close () { clear(this); return this }
  refresh () {
    clear(this)
    this.#id = this.#start()
    return this
  }

  [Symbol.toPrimitive] () { return this.#id }
}

const timer = repeat => (f, ms, ...args) => {
  if (typeof f !== 'function') throw new TypeError('the first argument of a timer must be a function')
  return new Timeout(() => setTimer(() => f(...args), Math.max(1, Number(ms) || 0), repeat))
}
const clear = id => clearTimer(Number(id) || 0)

exports.setTimeout = timer(false)
exports.setInterval = timer(true)
exports.setImmediate = (f, ...args) => exports.setTimeout(f, 0, ...args)
exports.clearTimeout = exports.clearInterval = exports.clearImmediate = clear
exports.queueMicrotask = f => { Promise.resolve().then(() => f()) }
