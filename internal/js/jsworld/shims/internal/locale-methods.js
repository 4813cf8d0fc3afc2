// toLocaleString and its siblings, with locales and options.
const intl = () => require('internal/intl')
const formatter = (name, locales, options, ...rest) => {
  const { Intl, kept } = intl()
  return kept(Intl[name], locales, options, ...rest)
}
const define = (type, methods) => {
  for (const name of Object.keys(methods)) Object.defineProperty(type.prototype, name, { value: methods[name], writable: true, configurable: true })
}

const valueOfNumber = Number.prototype.valueOf
define(Number, { toLocaleString (locales, options) { return formatter('NumberFormat', locales, options).format(valueOfNumber.call(this)) } })
const valueOfBigInt = BigInt.prototype.valueOf
define(BigInt, { toLocaleString (locales, options) { return formatter('NumberFormat', locales, options).format(valueOfBigInt.call(this)) } })

const time = Date.prototype.getTime
const dated = (required, standard) => function (locales, options) {
  const t = time.call(this)
  return Number.isNaN(t) ? 'Invalid Date' : formatter('DateTimeFormat', locales, options, required, standard).format(t)
}
define(Date, { toLocaleString: dated('any', 'all'), toLocaleDateString: dated('date', 'date'), toLocaleTimeString: dated('time', 'time') })

define(Array, { toLocaleString (locales, options) { return Array.from(this, v => v === null || v === undefined ? '' : v.toLocaleString(locales, options)).join(',') } })

const compare = String.prototype.localeCompare
define(String, {
  localeCompare (that, locales, options) {
    if (locales === undefined && options === undefined) return compare.call(this, that)
    return formatter('Collator', locales, options).compare(String(this), that)
  }
})
