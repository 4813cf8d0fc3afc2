// Intl in English, and what toLocaleString is made of. Other locales are accepted and give en-US, on
// every machine, so a tool gives the same text everywhere.
//
// The parts are in modules of their own, which are loaded when they are first used.

const wellFormed = /^(?:[a-z]{2,3}|[a-z]{5,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|\d{3}))?(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*(?:-[a-wyz\d](?:-[a-z\d]{2,8})+)*(?:-x(?:-[a-z\d]{1,8})+)?$/i

// canonicalName returns the name of a locale in its usual notation: zh-Hant-TW for zh-hant-tw.
function canonicalName (name) {
  if (!wellFormed.test(name)) throw new RangeError('Incorrect locale information provided')
  const parts = name.toLowerCase().split('-')
  const end = parts.findIndex(part => part.length === 1)
  return parts.map((part, i) => {
    if (i === 0 || end >= 0 && i > end) return part
    return part.length === 4 ? part[0].toUpperCase() + part.slice(1) : part.length === 2 ? part.toUpperCase() : part
  }).join('-')
}

// canonical returns the names in a list of locales, or in one locale, in their usual notation.
function canonical (locales) {
  if (locales === undefined) return []
  const list = typeof locales === 'string' || locales instanceof Locale ? [locales] : Array.from(Object(locales))
  return [...new Set(list.map(l => {
    if (typeof l !== 'string' && (typeof l !== 'object' || l === null)) throw new TypeError('Incorrect locale information provided')
    return canonicalName(String(l))
  }))]
}

// lookup returns the only locale, and throws if a name is not that of a locale.
function lookup (locales) {
  canonical(locales)
  return 'en-US'
}
const supported = name => /^en(-US)?(-u-|$)/.test(name)

// option reads one option, which must be one of the allowed values.
function option (options, name, allowed, standard) {
  const v = options[name]
  if (v === undefined) return standard
  const s = typeof allowed[0] === 'boolean' ? Boolean(v) : String(v)
  if (!allowed.includes(s)) throw new RangeError(`Value ${s} out of range for Intl options property ${name}`)
  return s
}
const wholeNumber = (options, name, low, high, standard) => {
  const v = options[name]
  if (v === undefined) return standard
  if (!(Number(v) >= low && Number(v) <= high)) throw new RangeError(`${name} value is out of range.`)
  return Math.floor(Number(v))
}
const optionsOf = options => {
  if (options === null) throw new TypeError('Cannot convert undefined or null to object')
  return options === undefined ? {} : Object(options)
}

class Locale {
  constructor (tag) {
    const [name] = canonical([tag])
    const [, language, script, region] = /^([a-z]+)(?:-([A-Z][a-z]{3}))?(?:-([A-Z]{2}|\d{3}))?/.exec(name)
    Object.assign(this, { language, script, region, baseName: name.replace(/-[a-z]-.*$/, '') })
  }
  toString () { return this.baseName }
}

// kept returns the formatter for these arguments: toLocaleString asks for the same one many times.
const formatters = new Map()
function kept (Type, locales, options, ...rest) {
  const make = () => new Type(locales, options, ...rest)
  if (options !== undefined && options !== null && typeof options !== 'object' || locales !== undefined && typeof locales !== 'string') return make()
  const key = Type.name + '|' + locales + '|' + JSON.stringify(options) + rest
  let found = formatters.get(key)
  if (!found) {
    found = make()
    if (formatters.size >= 64) formatters.clear()
    formatters.set(key, found)
  }
  return found
}

const callable = Type => {
  Type.supportedLocalesOf = locales => canonical(locales).filter(supported)
  Object.defineProperty(Type.prototype, Symbol.toStringTag, { value: 'Intl.' + Type.name })
  return new Proxy(Type, { apply: (_, __, args) => new Type(...args) })
}

const Intl = { getCanonicalLocales: canonical, Locale }
Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl' })
const parts = { NumberFormat: 'intl-number', DateTimeFormat: 'intl-date', Collator: 'intl-text', ListFormat: 'intl-text', PluralRules: 'intl-plural', Segmenter: 'intl-segmenter' }
for (const name of Object.keys(parts)) {
  const define = value => Object.defineProperty(Intl, name, { value, writable: true, configurable: true })
  Object.defineProperty(Intl, name, { get: () => {
    const made = callable(require('internal/' + parts[name])[name])
    define(made)
    return made
  }, set: define, configurable: true })
}

Object.assign(exports, { Intl, lookup, option, wholeNumber, optionsOf, kept })
