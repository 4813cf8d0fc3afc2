// Intl.Collator and Intl.ListFormat.
const { lookup, option, optionsOf } = require('internal/intl')
const { compareText } = __lent()

// words are what stands between two items, between the first ones and before the last one of more.
// Data of the Unicode CLDR 48.0. Copyright © Unicode, Inc.; Unicode License v3, https://www.unicode.org/license.txt
const words = {
  conjunction: { long: [' and ', ', ', ', and '], short: [' & ', ', ', ', & '], narrow: [', ', ', ', ', '] },
  disjunction: { long: [' or ', ', ', ', or '] },
  unit: { long: [', ', ', ', ', '], narrow: [' ', ' ', ' '] }
}

class Collator {
  constructor (locales, given) {
    const o = optionsOf(given)
    const resolved = {
      locale: lookup(locales),
      usage: option(o, 'usage', ['sort', 'search'], 'sort'),
      sensitivity: option(o, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant'),
      ignorePunctuation: false,
      collation: 'default',
      numeric: option(o, 'numeric', [true, false], false),
      caseFirst: option(o, 'caseFirst', ['upper', 'lower', 'false'], 'false')
    }
    this.compare = (a, b) => compareText(resolved.sensitivity, resolved.numeric, String(a), String(b))
    this.resolvedOptions = () => ({ ...resolved })
  }
}

class ListFormat {
  #o
  #words
  constructor (locales, given) {
    const locale = lookup(locales)
    const o = optionsOf(given)
    this.#o = { locale, type: option(o, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction'), style: option(o, 'style', ['long', 'short', 'narrow'], 'long') }
    const styles = words[this.#o.type]
    this.#words = styles[this.#o.style] ?? styles.long
  }
  format (list) { return this.formatToParts(list).map(p => p.value).join('') }
  formatToParts (list) {
    const items = Array.from(list ?? [], v => {
      if (typeof v !== 'string') throw new TypeError('Iterable yielded a non-String value')
      return { type: 'element', value: v }
    })
    const [pair, middle, last] = this.#words
    return items.flatMap((item, i) => {
      if (i === 0) return [item]
      const value = items.length === 2 ? pair : i === items.length - 1 ? last : middle
      return value === '' ? [item] : [{ type: 'literal', value }, item]
    })
  }
  resolvedOptions () { return { ...this.#o } }
}

module.exports = { Collator, ListFormat }
