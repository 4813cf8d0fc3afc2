// Weak references. A world ends with its call, so they keep what they refer to.
const isTarget = v => (typeof v === 'object' && v !== null) || typeof v === 'function' || typeof v === 'symbol'

exports.WeakRef = class WeakRef {
  #target
  constructor (target) {
    if (!isTarget(target)) throw new TypeError('WeakRef: target must be an object')
    this.#target = target
  }

  deref () { return this.#target }
  get [Symbol.toStringTag] () { return 'WeakRef' }
}
exports.FinalizationRegistry = class FinalizationRegistry {
  constructor (cleanup) {
    if (typeof cleanup !== 'function') throw new TypeError('FinalizationRegistry: cleanup must be callable')
  }

  register () {}
  unregister () { return false }
  get [Symbol.toStringTag] () { return 'FinalizationRegistry' }
}
