// Intl.PluralRules: which form of a noun follows a number.
const { lookup, option, optionsOf } = require('internal/intl')

const oneOnly = n => n.whole && n.i === 1 ? 'one' : 'other'
const zeroOrOne = n => n.i === 0 || n.i === 1 ? 'one' : 'other'
const none = () => 'other'
const ends = (n, low, high) => n.i % 10 >= low && n.i % 10 <= high && !(n.i % 100 >= 10 + low && n.i % 100 <= 10 + high)
const millions = n => n.whole && n.i !== 0 && n.i % 1e6 === 0
const slavic = n => !n.whole ? 'other' : ends(n, 1, 1) ? 'one' : ends(n, 2, 4) ? 'few' : 'many'

// cardinals are the rules for amounts by language. The number is 1.50: its whole part i is 1, it
// is not whole, and its value is 1.5.
const cardinals = {
  fr: n => zeroOrOne(n) === 'one' ? 'one' : millions(n) ? 'many' : 'other',
  pt: n => zeroOrOne(n) === 'one' ? 'one' : millions(n) ? 'many' : 'other',
  'pt-PT': n => oneOnly(n) === 'one' ? 'one' : millions(n) ? 'many' : 'other',
  es: n => n.value === 1 ? 'one' : millions(n) ? 'many' : 'other',
  it: n => oneOnly(n) === 'one' ? 'one' : millions(n) ? 'many' : 'other',
  da: n => n.value === 1 || n.value !== n.i && (n.i === 0 || n.i === 1) ? 'one' : 'other',
  nb: n => n.value === 1 ? 'one' : 'other',
  hu: n => n.value === 1 ? 'one' : 'other',
  tr: n => n.value === 1 ? 'one' : 'other',
  hi: n => n.i === 0 || n.value === 1 ? 'one' : 'other',
  pl: n => !n.whole ? 'other' : n.i === 1 ? 'one' : ends(n, 2, 4) ? 'few' : 'many',
  cs: n => !n.whole ? 'many' : n.i === 1 ? 'one' : n.i >= 2 && n.i <= 4 ? 'few' : 'other',
  ro: n => n.whole && n.i === 1 ? 'one' : !n.whole || n.i === 0 || n.i % 100 >= 1 && n.i % 100 <= 19 ? 'few' : 'other',
  ru: slavic,
  uk: slavic,
  ja: none,
  ko: none,
  zh: none,
  id: none,
  vi: none
}
// ordinals are the rules for places: 1st, 2nd.
const ordinals = {
  en: n => ends(n, 1, 1) ? 'one' : ends(n, 2, 2) ? 'two' : ends(n, 3, 3) ? 'few' : 'other',
  fr: n => n.value === 1 ? 'one' : 'other',
  ro: n => n.value === 1 ? 'one' : 'other',
  vi: n => n.value === 1 ? 'one' : 'other',
  hu: n => n.value === 1 || n.value === 5 ? 'one' : 'other',
  it: n => [8, 11, 80, 800].includes(n.value) ? 'many' : 'other',
  sv: n => [1, 2].includes(n.i % 10) && ![11, 12].includes(n.i % 100) ? 'one' : 'other',
  uk: n => n.i % 10 === 3 && n.i % 100 !== 13 ? 'few' : 'other',
  hi: n => ({ 1: 'one', 2: 'two', 3: 'two', 4: 'few', 6: 'many' })[n.value] ?? 'other'
}
const rule = (rules, locale, standard) => rules[locale] ?? rules[locale.replace(/-.*/, '')] ?? standard

// cardinal returns the form for a number as intl-number has it, shown with at least so many
// decimal places.
function cardinal (locale, n, least = 0) {
  const i = Number(n.digits.slice(0, Math.max(n.point, 0)).padEnd(Math.max(n.point, 0), '0'))
  const whole = n.digits.length <= n.point && least === 0
  return rule(cardinals, locale, oneOnly)({ i, whole, value: Number('0.' + n.digits + 'e' + n.point) })
}

class PluralRules {
  #o
  constructor (locales, given) {
    const o = optionsOf(given)
    this.#o = { locale: lookup(locales).locale, type: option(o, 'type', ['cardinal', 'ordinal'], 'cardinal') }
  }
  select (v) {
    const { decimal } = require('internal/intl-number')
    const n = Number(v)
    if (!Number.isFinite(n)) return 'other'
    if (this.#o.type === 'cardinal') return cardinal(this.#o.locale, decimal(n))
    return Number.isInteger(n) ? rule(ordinals, this.#o.locale, none)({ i: Math.abs(n), value: Math.abs(n), whole: true }) : 'other'
  }
  resolvedOptions () { return { ...this.#o } }
}

module.exports = { PluralRules, cardinal }
