// The events module of Node.js: EventEmitter, once, and the classes Event and EventTarget.

// Not a class, because older classes call EventEmitter.call(this).
function EventEmitter () {}
const key = Symbol('listeners')

function all (self) {
  if (!Object.hasOwn(self, key)) Object.defineProperty(self, key, { value: new Map() })
  return self[key]
}

function add (self, name, f, once, first) {
  if (typeof f !== 'function') throw Object.assign(new TypeError(`The "listener" argument must be of type function. Received ${f === null ? 'null' : typeof f}`), { code: 'ERR_INVALID_ARG_TYPE' })
  if (all(self).has('newListener')) self.emit('newListener', name, f)
  const list = all(self).get(name) || []
  all(self).set(name, first ? [{ f, once }, ...list] : [...list, { f, once }])
  return self
}

function drop (self, name, entry) {
  const rest = all(self).get(name).filter(e => e !== entry)
  if (rest.length > 0) all(self).set(name, rest)
  else all(self).delete(name)
  if (all(self).has('removeListener')) self.emit('removeListener', name, entry.f)
}

const methods = {
  on (name, f) { return add(this, name, f) },
  once (name, f) { return add(this, name, f, true) },
  prependListener (name, f) { return add(this, name, f, false, true) },
  prependOnceListener (name, f) { return add(this, name, f, true, true) },
  off (name, f) {
    const found = (all(this).get(name) || []).findLast(e => e.f === f)
    if (found) drop(this, name, found)
    return this
  },
  removeAllListeners (name) {
    if (name === undefined) all(this).clear()
    else all(this).delete(name)
    return this
  },
  emit (name, ...args) {
    const list = all(this).get(name)
    if (!list) {
      if (name !== 'error') return false
      if (args[0] instanceof Error) throw args[0]
      throw Object.assign(new Error(`Unhandled error. (${require('util').inspect(args[0])})`), { code: 'ERR_UNHANDLED_ERROR', context: args[0] })
    }
    for (const e of list) {
      if (e.once) drop(this, name, e)
      e.f.apply(this, args)
    }
    return true
  },
  listeners (name) { return (all(this).get(name) || []).map(e => e.f) },
  listenerCount (name) { return (all(this).get(name) || []).length },
  eventNames () { return [...all(this).keys()] },
  setMaxListeners () { return this },
  getMaxListeners () { return EventEmitter.defaultMaxListeners }
}
methods.addListener = methods.on
methods.removeListener = methods.off
methods.rawListeners = methods.listeners
for (const [name, value] of Object.entries(methods)) Object.defineProperty(EventEmitter.prototype, name, { value, writable: true, configurable: true })

// once returns a promise of the next event's arguments.
function once (emitter, name) {
  return new Promise((resolve, reject) => {
    const fail = e => { emitter.off(name, done); reject(e) }
    const done = (...args) => { emitter.off('error', fail); resolve(args) }
    emitter.once(name, done)
    if (name !== 'error') emitter.once('error', fail)
  })
}

class Event {
  #stopped = false
  constructor (type, options = {}) {
    Object.assign(this, { type: String(type), target: null, currentTarget: null, bubbles: !!options.bubbles, cancelable: !!options.cancelable, defaultPrevented: false, timeStamp: Date.now() })
  }
  preventDefault () { if (this.cancelable) this.defaultPrevented = true }
  stopPropagation () {}
  stopImmediatePropagation () { this.#stopped = true }
  static stopped (e) { return e.#stopped }
}
const stopped = Event.stopped
delete Event.stopped

class CustomEvent extends Event {
  constructor (type, options = {}) { super(type, options); this.detail = options.detail ?? null }
}

class EventTarget {
  #of = []
  addEventListener (type, f, options) {
    if (f === null || f === undefined || this.#of.some(e => e.type === String(type) && e.f === f)) return
    const once = typeof options === 'object' && options !== null && !!options.once
    this.#of.push({ type: String(type), f, once })
    if (typeof options === 'object' && options?.signal) options.signal.addEventListener('abort', () => this.removeEventListener(type, f))
  }
  removeEventListener (type, f) { this.#of = this.#of.filter(e => e.type !== String(type) || e.f !== f) }
  dispatchEvent (event) {
    event.target = event.currentTarget = this
    const property = this['on' + event.type]
    if (typeof property === 'function') property.call(this, event)
    for (const e of this.#of.filter(e => e.type === event.type)) {
      if (e.once) this.removeEventListener(e.type, e.f)
      if (typeof e.f === 'function') e.f.call(this, event)
      else e.f.handleEvent(event)
      if (stopped(event)) break
    }
    return !event.defaultPrevented
  }
}

EventEmitter.defaultMaxListeners = 10
module.exports = Object.assign(EventEmitter, { EventEmitter, once, Event, CustomEvent, EventTarget })
