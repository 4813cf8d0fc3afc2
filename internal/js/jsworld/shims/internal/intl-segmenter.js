// Intl.Segmenter.
const { lookup, option, optionsOf } = require('internal/intl')
const { segments } = __lent()

class Segments {
  #granularity
  #input
  constructor (granularity, input) {
    this.#granularity = granularity
    this.#input = input
  }

  * [Symbol.iterator] () {
    let index = 0
    for (const { Text, Word } of segments(this.#granularity, this.#input)) {
      const segment = this.#input.slice(index, index + Text.length)
      yield { segment, index, input: this.#input, ...(this.#granularity === 'word' ? { isWordLike: Word } : {}) }
      index += Text.length
    }
  }

  containing (at = 0) {
    const wanted = Math.trunc(Number(at)) || 0
    for (const s of this) if (wanted >= s.index && wanted < s.index + s.segment.length) return s
  }
}

class Segmenter {
  #o
  constructor (locales, given) {
    const o = optionsOf(given)
    this.#o = { locale: lookup(locales), granularity: option(o, 'granularity', ['grapheme', 'word', 'sentence'], 'grapheme') }
  }

  segment (text) { return new Segments(this.#o.granularity, String(text)) }
  resolvedOptions () { return { ...this.#o } }
}

module.exports = { Segmenter }
