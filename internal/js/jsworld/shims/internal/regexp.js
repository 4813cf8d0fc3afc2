// RegExp with what goja lacks: the properties of Unicode, the flag v, \b beside letters that are not ASCII, and all empty
// matches. Such an expression is translated, and says what its author wrote.
const { translatePattern } = __lent()
const Native = /./.constructor // the global RegExp is not there yet
const proto = Native.prototype
const written = new WeakMap()

const isRegExp = (v) => {
  if (v === null || (typeof v !== 'object' && typeof v !== 'function')) return false
  const match = v[Symbol.match]
  return match === undefined ? v instanceof Native : Boolean(match)
}

const nativeExec = proto.exec
// execWhole is exec of an expression with the flag v. The engine, which does not know the flag, goes on from an empty
// match at the next code unit: in a surrogate pair that is the same place for its own exec.
const { exec: execWhole } = {
  exec (text) {
    const s = String(text)
    const at = this.lastIndex
    if (at > 0 && (this.global || this.sticky) && (s.charCodeAt(at) & 0xfc00) === 0xdc00 && (s.charCodeAt(at - 1) & 0xfc00) === 0xd800) this.lastIndex = at + 1
    return nativeExec.call(this, s)
  }
}

function RegExp (pattern, flags) {
  const like = isRegExp(pattern)
  if (new.target === undefined && like && flags === undefined && pattern.constructor === RegExp) return pattern
  const source = like ? (written.get(pattern) ?? pattern).source : pattern === undefined ? '' : String(pattern)
  const all = flags === undefined ? (like ? pattern.flags : '') : String(flags)
  const target = new.target ?? RegExp
  const key = `${all}/${source}`
  const known = target === RegExp ? compiled.get(key) : undefined
  if (known) return note(new Native(known.expression), known)
  const [translated = source, native = all, oneByOne, wrong] = translatePattern(source, all)
  if (wrong) throw new SyntaxError(wrong)
  const made = Reflect.construct(Native, [translated, native], target)
  if (!oneByOne && translated === source && native === all && !/[/\n\r\u2028\u2029]/.test(source)) return made // goja shows a slash in its own way
  const own = { source, flags: all, translated, native, oneByOne, expression: made }
  if (target === RegExp) {
    if (compiled.size === 100) compiled.clear()
    compiled.set(key, own)
    return note(new Native(made), own)
  }
  return note(made, own)
}

// compiled are expressions made before, by their flags and source: a literal in a loop is made often.
const compiled = new Map()

// note notes how an expression was written.
const note = (made, own) => {
  if (own.flags.includes('v')) {
    define(made, 'exec', { writable: true, value: execWhole })
    define(made, 'unicode', { value: false }) // changed for all expressions, goja finds the matches of all one by one
  }
  if (own.oneByOne) Object.defineProperty(made, 'lastIndex', { writable: true }) // has goja do that
  written.set(made, own)
  return made
}

// literal makes the expression of a literal.
function literal (source, flags) {
  const known = compiled.get(`${flags}/${source}`)
  return known ? note(new Native(known.expression), known) : new RegExp(source, flags)
}

const define = (o, name, descriptor) => Object.defineProperty(o, name, { configurable: true, ...descriptor })
const getter = (name, of, otherwise) => {
  const get = Object.getOwnPropertyDescriptor(proto, name)?.get ?? (() => otherwise)
  define(proto, name, { get () { return written.has(this) ? of(written.get(this)) : get.call(this) } })
}
getter('source', ({ source }) => {
  const shown = source.replace(/\\[^]|\[(?:\\[^]|[^\]\\])*\]|\//g, (part) => part === '/' ? '\\/' : part)
  return shown.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') || '(?:)'
})
getter('flags', ({ flags }) => [...flags].sort().join(''))
getter('unicodeSets', ({ flags }) => flags.includes('v'), false)
define(proto, 'toString', { writable: true, value: { toString () { return `/${this.source}/${this.flags}` } }.toString })
const split = proto[Symbol.split]
define(proto, Symbol.split, { writable: true, value: { [Symbol.split] (text, limit) { 
  const own = written.get(this)
  return split.call(own?.flags.includes('v') ? new Native(own.translated, own.native) : this, text, limit === undefined ? limit : limit >>> 0)
}  }[Symbol.split] }) // goja takes -1 for none
define(proto, 'constructor', { writable: true, value: RegExp })
define(RegExp, 'prototype', { configurable: false, value: proto })
define(RegExp, Symbol.species, { get () { return this } })

module.exports = { RegExp, __flowrunRegExp: literal }
