// Intl for the languages in internal/locales, and what toLocaleString is made of. The default is
// en-US on every machine, so a tool gives the same text everywhere.
//
// The parts are in modules of their own, which are loaded when they are first used.

const fallback = 'en-US'
const own = new Set('en-US en-GB en-AU en-CA en-IN de de-AT de-CH fr fr-CA es es-MX it pt-BR pt-PT nl sv da nb fi pl cs hu ro uk ru tr ja ko zh-CN zh-TW zh-HK id vi hi'.split(' '))
// others are languages and regions that have the data of another name.
const others = { en: 'en-US', pt: 'pt-BR', zh: 'zh-CN', no: 'nb', in: 'id', 'en-NZ': 'en-AU', 'en-IE': 'en-GB', 'en-ZA': 'en-GB', 'es-419': 'es-MX', 'zh-Hant': 'zh-TW', 'zh-MO': 'zh-HK' }

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

// supported returns the name under which a locale has data, or undefined.
function supported (name) {
  for (let part = name.replace(/-u-.*$/, ''); part !== ''; part = part.replace(/-?[^-]*$/, '')) {
    const found = others[part] ?? part
    if (own.has(found)) return { data: found, locale: part }
  }
}

// lookup returns the first locale that has data, or the default.
function lookup (locales) {
  for (const name of canonical(locales)) {
    const found = supported(name)
    if (found) return found
  }
  return { data: fallback, locale: fallback }
}

const dataOf = found => require('internal/locales/' + found.data)

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
const parts = { NumberFormat: 'intl-number', DateTimeFormat: 'intl-date', Collator: 'intl-text', ListFormat: 'intl-text', PluralRules: 'intl-plural' }
for (const name of Object.keys(parts)) {
  const define = value => Object.defineProperty(Intl, name, { value, writable: true, configurable: true })
  Object.defineProperty(Intl, name, { get: () => {
    const made = callable(require('internal/' + parts[name])[name])
    define(made)
    return made
  }, set: define, configurable: true })
}

Object.assign(exports, { Intl, lookup, dataOf, option, wholeNumber, optionsOf, kept })
