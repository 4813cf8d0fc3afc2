// DOMException, AbortController and structuredClone, which browsers and Node.js both have.
const { Event, EventTarget } = require('events')

const numbers = { IndexSizeError: 1, NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11, SyntaxError: 12, InvalidAccessError: 15, TypeMismatchError: 17, InvalidCharacterError: 5, NetworkError: 19, AbortError: 20, QuotaExceededError: 22, TimeoutError: 23, DataCloneError: 25 }
class DOMException extends Error {
  constructor (message = '', name = 'Error') {
    super(message)
    Object.defineProperty(this, 'name', { value: typeof name === 'object' ? name.name : name, configurable: true })
  }
  get code () { return numbers[this.name] || 0 }
  get [Symbol.toStringTag] () { return 'DOMException' }
}

class AbortSignal extends EventTarget {
  aborted = false
  reason = undefined
  onabort = null
  throwIfAborted () { if (this.aborted) throw this.reason }
  static abort (reason) { return stop(new AbortSignal(), reason) }
  static timeout (ms) {
    const signal = new AbortSignal()
    setTimeout(() => stop(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms)
    return signal
  }
  static any (signals) {
    const signal = new AbortSignal()
    for (const s of signals) {
      if (s.aborted) return stop(signal, s.reason)
      s.addEventListener('abort', () => stop(signal, s.reason))
    }
    return signal
  }
}

function stop (signal, reason = new DOMException('This operation was aborted', 'AbortError')) {
  if (signal.aborted) return signal
  signal.aborted = true
  signal.reason = reason
  signal.dispatchEvent(new Event('abort'))
  return signal
}

class AbortController {
  signal = new AbortSignal()
  abort (reason) { stop(this.signal, reason) }
}

// structuredClone copies a value. It throws for values that it cannot copy, such as functions
// and symbols. As in browsers, objects of the author's classes lose their class.
function structuredClone (value) {
  const seen = new Map()
  const copy = v => {
    if (typeof v === 'function' || typeof v === 'symbol') throw new DOMException(`${typeof v === 'symbol' ? v.toString() : v} could not be cloned.`, 'DataCloneError')
    if (v === null || typeof v !== 'object') return v
    if (seen.has(v)) return seen.get(v)
    const keep = made => { seen.set(v, made); return made }
    if (v instanceof Date) return keep(new Date(v.getTime()))
    if (v instanceof RegExp) return keep(new RegExp(v.source, v.flags))
    if (v instanceof Boolean || v instanceof Number || v instanceof String) return keep(Object(v.valueOf()))
    if (v instanceof ArrayBuffer) return keep(v.slice(0))
    if (ArrayBuffer.isView(v)) {
      const buffer = copy(v.buffer)
      const type = v instanceof DataView ? DataView : globalThis[v[Symbol.toStringTag]] || Uint8Array
      return keep(new type(buffer, v.byteOffset, v instanceof DataView ? v.byteLength : v.length))
    }
    if (v instanceof Map) {
      const made = keep(new Map())
      for (const [k, x] of v) made.set(copy(k), copy(x))
      return made
    }
    if (v instanceof Set) {
      const made = keep(new Set())
      for (const x of v) made.add(copy(x))
      return made
    }
    if (v instanceof Error) {
      const type = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError }[v.name] || Error
      const made = keep(Object.create(type.prototype))
      for (const k of ['message', 'stack', 'cause']) if (Object.hasOwn(v, k)) Object.defineProperty(made, k, { value: copy(v[k]), writable: true, configurable: true })
      return made
    }
    if (v instanceof Promise || v instanceof WeakMap || v instanceof WeakSet) throw new DOMException(`${Object.prototype.toString.call(v).replace('[object ', '#<').replace(']', '>')} could not be cloned.`, 'DataCloneError')
    const made = keep(Array.isArray(v) ? new Array(v.length) : {})
    for (const k of Object.keys(v)) made[k] = copy(v[k])
    return made
  }
  return copy(value)
}

module.exports = { DOMException, AbortController, AbortSignal, structuredClone, Event, EventTarget }
