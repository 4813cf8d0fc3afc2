// Intl.NumberFormat for decimal numbers, percentages, amounts of money and compact numbers. There
// are no units.
const { lookup, option, wholeNumber, optionsOf } = require('internal/intl')

// cents are the decimal places of the currencies that do not have two.
const cents = { BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, UYI: 0, VND: 0, VUV: 0, XAF: 0, XOF: 0, XPF: 0, BHD: 3, IQD: 3, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3 }

// Data of the Unicode CLDR 48.0. Copyright © Unicode, Inc.; Unicode License v3, https://www.unicode.org/license.txt
const symbols = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', CNY: 'CN¥', CAD: 'CA$', AUD: 'A$', INR: '₹', KRW: '₩', BRL: 'R$', MXN: 'MX$', NZD: 'NZ$', HKD: 'HK$', TWD: 'NT$', ILS: '₪', VND: '₫' }
const narrowSymbols = { CNY: '¥', CAD: '$', AUD: '$', RUB: '₽', MXN: '$', NZD: '$', HKD: '$', TWD: '$', SEK: 'kr', NOK: 'kr', DKK: 'kr', PLN: 'zł', CZK: 'Kč', TRY: '₺', UAH: '₴', THB: '฿' }
// powers are what follows a compact number, by thousands.
const powers = { short: ['K', 'M', 'B', 'T'], long: [' thousand', ' million', ' billion', ' trillion'] }

// decimal returns a number as its sign, its digits without zeros at both ends, and the number of
// digits before the point, which may be negative.
function decimal (v) {
  if (typeof v === 'bigint') {
    const s = String(v < 0n ? -v : v)
    return { negative: v < 0n, digits: s.replace(/0+$/, ''), point: v === 0n ? 0 : s.length }
  }
  const [, mantissa, exponent] = /^([\d.]+)e([+-]\d+)$/.exec(Math.abs(v).toExponential())
  const digits = mantissa.replace('.', '').replace(/0+$/, '')
  return { negative: v < 0 || Object.is(v, -0), digits, point: digits === '' ? 0 : Number(exponent) + 1 }
}

// rounded returns the number with only the digits before place, which is counted from the point.
function rounded (n, place) {
  const keep = n.point + place
  if (keep >= n.digits.length) return n
  let digits = keep < 0 ? '' : n.digits.slice(0, keep)
  let point = n.point
  if (keep >= 0 && n.digits[keep] >= '5') {
    let i = keep - 1
    while (i >= 0 && digits[i] === '9') i--
    digits = i < 0 ? '1' : digits.slice(0, i) + String(Number(digits[i]) + 1)
    if (i < 0) point++
  }
  digits = digits.replace(/0+$/, '')
  return { negative: n.negative, digits, point: digits === '' ? 0 : point }
}

class NumberFormat {
  #o
  constructor (locales, given) {
    const locale = lookup(locales)
    const o = optionsOf(given)
    const style = option(o, 'style', ['decimal', 'percent', 'currency', 'unit'], 'decimal')
    if (style === 'unit') throw new RangeError('Intl.NumberFormat: the style unit is not available, because this tool does not run under Node.js; write the unit after the number')
    const currency = o.currency === undefined ? undefined : String(o.currency).toUpperCase()
    if (currency !== undefined && !/^[A-Z]{3}$/.test(currency)) throw new RangeError(`Invalid currency code : ${o.currency}`)
    if (style === 'currency' && currency === undefined) throw new TypeError('Currency code is required with currency style.')
    const notation = option(o, 'notation', ['standard', 'scientific', 'engineering', 'compact'], 'standard')
    this.#o = {
      locale,
      numberingSystem: 'latn',
      style,
      ...(style === 'currency' && {
        currency,
        currencyDisplay: option(o, 'currencyDisplay', ['symbol', 'narrowSymbol', 'code', 'name'], 'symbol'),
        currencySign: option(o, 'currencySign', ['standard', 'accounting'], 'standard')
      }),
      ...digitsOf(o, style, currency, notation),
      useGrouping: grouping(o, notation),
      notation,
      ...(notation === 'compact' && { compactDisplay: option(o, 'compactDisplay', ['short', 'long'], 'short') }),
      signDisplay: option(o, 'signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto')
    }
    this.format = v => this.formatToParts(v).map(p => p.value).join('')
  }
  resolvedOptions () { return { ...this.#o } }
  formatRange (from, to) {
    const [a, b] = [this.format(from), this.format(to)]
    return a === b ? '~' + a : `${a}–${b}`
  }
  formatToParts (v) {
    const o = this.#o
    if (typeof v !== 'bigint') v = typeof v === 'string' && /^[+-]?\d+$/.test(v.trim()) ? BigInt(v.trim()) : Number(v)
    const finite = typeof v === 'bigint' || Number.isFinite(v)
    let n = finite ? decimal(v) : { negative: v < 0, digits: '', point: 0 }
    if (o.style === 'percent') n = { ...n, point: n.digits === '' ? 0 : n.point + 2 }
    let body
    if (!finite) body = [{ type: Number.isNaN(v) ? 'nan' : 'infinity', value: Number.isNaN(v) ? 'NaN' : '∞' }]
    else [n, body] = this.#digits(n)
    return this.#sign(n, body, finite || !Number.isNaN(v))
  }
  // round returns the number rounded by the options, and how many decimal places must be shown.
  #round (n) {
    const o = this.#o
    if (o.maximumSignificantDigits !== undefined) {
      const r = rounded(n, o.maximumSignificantDigits - n.point)
      return [r, Math.max(0, o.minimumSignificantDigits - Math.max(r.point, r.digits === '' ? 1 : r.point))]
    }
    if (o.notation === 'compact' && o.maximumFractionDigits === undefined) return [rounded(n, n.point <= 1 ? 2 - n.point : 0), 0]
    return [rounded(n, o.maximumFractionDigits), o.minimumFractionDigits]
  }
  #digits (n) {
    const o = this.#o
    if (o.notation === 'standard') {
      const [r, least] = this.#round(n)
      return [r, this.#plain(r, least)]
    }
    if (o.notation !== 'compact') return this.#scientific(n)
    return this.#compact(n)
  }
  #compact (n) {
    const thousands = point => Math.min(Math.max(Math.floor((point - 1) / 3), 0), 4)
    const scaled = power => this.#round({ ...n, point: n.point - 3 * power })
    let power = thousands(n.point)
    let [r, least] = scaled(power)
    if (power < 4 && r.point > 3) [r, least] = scaled(++power) // 999,999 becomes 1M, not 1000K
    const body = this.#plain(r, least)
    if (power === 0) return [r, body]
    const word = powers[this.#o.compactDisplay][power - 1]
    const space = word.startsWith(' ') ? [{ type: 'literal', value: ' ' }] : []
    return [r, [...body, ...space, { type: 'compact', value: word.trim() }]]
  }
  #scientific (n) {
    const step = this.#o.notation === 'engineering' ? 3 : 1
    const scale = exponent => Math.floor(exponent / step) * step
    let e = n.digits === '' ? 0 : scale(n.point - 1)
    let [r, least] = this.#round({ ...n, point: n.point - e })
    if (r.point > step) {
      e = scale(e + step)
      ;[r, least] = this.#round({ ...n, point: n.point - e })
    }
    return [r, [...this.#plain(r, least), { type: 'exponentSeparator', value: 'E' }, ...(e < 0 ? [{ type: 'exponentMinusSign', value: '-' }] : []), { type: 'exponentInteger', value: String(Math.abs(e)) }]]
  }
  // plain returns the digits with their separators.
  #plain (n, least) {
    const o = this.#o
    const all = n.digits
    const whole = (n.point > 0 ? all.slice(0, n.point).padEnd(n.point, '0') : '').padStart(o.minimumIntegerDigits, '0')
    const fraction = (n.point < 0 && all !== '' ? '0'.repeat(-n.point) + all : all.slice(Math.max(n.point, 0))).padEnd(least, '0')
    const list = []
    for (const piece of this.#groups(whole)) {
      if (list.length > 0) list.push({ type: 'group', value: ',' })
      list.push({ type: 'integer', value: piece })
    }
    if (fraction !== '') list.push({ type: 'decimal', value: '.' }, { type: 'fraction', value: fraction })
    return list
  }
  #groups (whole) {
    const how = this.#o.useGrouping
    if (how === false || whole.length < (how === 'min2' ? 5 : 4)) return [whole]
    const list = []
    for (let rest = whole; rest !== ''; rest = rest.slice(0, -3)) list.unshift(rest.slice(-3))
    return list
  }
  #sign (n, body, number) {
    const o = this.#o
    const zero = n.digits === '' && body.every(p => p.type !== 'infinity')
    const shown = { auto: n.negative, always: true, never: false, exceptZero: !zero && number, negative: n.negative && !zero }[o.signDisplay] && (number || o.signDisplay !== 'auto')
    const minus = shown && n.negative && number
    const sign = minus ? [{ type: 'minusSign', value: '-' }] : shown ? [{ type: 'plusSign', value: '+' }] : []
    if (o.style === 'percent') return [...sign, ...body, { type: 'percentSign', value: '%' }]
    if (o.style !== 'currency') return [...sign, ...body]
    const money = [...this.#currency(), ...body]
    if (minus && o.currencySign === 'accounting') return [{ type: 'literal', value: '(' }, ...money, { type: 'literal', value: ')' }]
    return [...sign, ...money]
  }
  #currency () {
    const o = this.#o
    const text = o.currencyDisplay === 'code' || o.currencyDisplay === 'name' ? o.currency : (o.currencyDisplay === 'narrowSymbol' && narrowSymbols[o.currency]) || symbols[o.currency] || o.currency
    const end = text.at(-1)
    const letter = end.toLowerCase() !== end.toUpperCase() // a letter needs a space
    return [{ type: 'currency', value: text }, ...(letter ? [{ type: 'literal', value: '\u00a0' }] : [])]
  }
}

function grouping (o, notation) {
  const v = o.useGrouping
  const standard = notation === 'compact' ? 'min2' : 'auto'
  if (v === undefined || v === 'true' || v === 'false') return standard
  if (v === true) return 'always'
  if (!v) return false
  if (!['min2', 'auto', 'always'].includes(v)) throw new RangeError(`Value ${v} out of range for Intl options property useGrouping`)
  return v
}

function digitsOf (o, style, currency, notation) {
  const minimumIntegerDigits = wholeNumber(o, 'minimumIntegerDigits', 1, 21, 1)
  if (o.minimumSignificantDigits !== undefined || o.maximumSignificantDigits !== undefined) {
    const minimumSignificantDigits = wholeNumber(o, 'minimumSignificantDigits', 1, 21, 1)
    return { minimumIntegerDigits, minimumSignificantDigits, maximumSignificantDigits: wholeNumber(o, 'maximumSignificantDigits', minimumSignificantDigits, 21, 21) }
  }
  const money = style === 'currency' && notation === 'standard' ? cents[currency] ?? 2 : 0
  const most = style === 'currency' && notation === 'standard' ? money : style === 'percent' ? 0 : 3
  let min = wholeNumber(o, 'minimumFractionDigits', 0, 100, undefined)
  let max = wholeNumber(o, 'maximumFractionDigits', 0, 100, undefined)
  if (notation === 'compact' && min === undefined && max === undefined) return { minimumIntegerDigits } // two digits, see round
  if (min === undefined) min = max === undefined ? money : Math.min(money, max)
  else if (max === undefined) max = Math.max(most, min)
  if (max === undefined) max = Math.max(most, min)
  if (min > max) throw new RangeError('maximumFractionDigits value is out of range.')
  return { minimumIntegerDigits, minimumFractionDigits: min, maximumFractionDigits: max }
}

module.exports = { NumberFormat }
