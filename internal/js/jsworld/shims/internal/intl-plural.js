// Intl.PluralRules: which form of a noun follows a number.
const { lookup, option, optionsOf } = require('internal/intl')

// ordinal returns the form for a place: 1st, 2nd, 3rd, 4th.
function ordinal (n) {
  const ends = [11, 12, 13].includes(n % 100) ? 0 : n % 10
  return { 1: 'one', 2: 'two', 3: 'few' }[ends] ?? 'other'
}

class PluralRules {
  #o
  constructor (locales, given) {
    const o = optionsOf(given)
    this.#o = { locale: lookup(locales), type: option(o, 'type', ['cardinal', 'ordinal'], 'cardinal') }
  }
  select (v) {
    const n = Math.abs(Number(v))
    if (this.#o.type === 'ordinal') return ordinal(n)
    return n === 1 ? 'one' : 'other'
  }
  resolvedOptions () { return { ...this.#o } }
}

module.exports = { PluralRules }
