// The util module of Node.js: inspect, format, promisify and others.
const custom = Symbol.for('nodejs.util.inspect.custom')
const isName = /^[a-zA-Z_][a-zA-Z_0-9]*$/

const escapes = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '\b': '\\b', '\f': '\\f', '\v': '\\v', '\\': '\\\\' }
function quoted (s) {
  const mark = !s.includes("'") ? "'" : !s.includes('"') ? '"' : !s.includes('`') && !s.includes('${') ? '`' : "'"
  return mark + s.replace(/[\0-\x1f\x7f-\x9f\\]/g, c => escapes[c] || '\\x' + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')).replace(mark === "'" ? /'/g : /$^/g, "\\'") + mark
}

const number = n => Object.is(n, -0) ? '-0' : String(n)

function primitive (ctx, v) {
  if (typeof v === 'bigint') return `${v}n`
  if (typeof v === 'number') return number(v)
  if (typeof v !== 'string') return v === null ? 'null' : typeof v === 'symbol' ? v.toString() : String(v)
  let rest = ''
  if (v.length > ctx.maxStringLength) {
    rest = `... ${v.length - ctx.maxStringLength} more character${v.length - ctx.maxStringLength > 1 ? 's' : ''}`
    v = v.slice(0, ctx.maxStringLength)
  }
  if (v.length > 16 && v.length > ctx.breakLength - ctx.indent - 4 && v.includes('\n')) {
    return v.match(/[^\n]*\n|[^\n]+$/g).map(quoted).join(` +\n${' '.repeat(ctx.indent + 2)}`) + rest
  }
  return quoted(v) + rest
}

function className (v) {
  for (let o = v; o !== null; o = Object.getPrototypeOf(o)) {
    const d = Object.getOwnPropertyDescriptor(o, 'constructor')
    if (d && typeof d.value === 'function' && d.value.name !== '' && v instanceof d.value) return d.value.name
  }
  return null
}

// prefix returns the text before the brackets: Map(2), [Object: null prototype].
function prefix (name, tag, fallback, size = '') {
  const t = tag !== '' && tag !== name ? `[${tag}] ` : ''
  return name === null ? `[${fallback}${size}: null prototype] ${t}` : `${name}${size} ${t}`
}

function keysOf (v, ctx) {
  const symbols = Object.getOwnPropertySymbols(v).filter(s => ctx.showHidden || Object.prototype.propertyIsEnumerable.call(v, s))
  return [...(ctx.showHidden ? Object.getOwnPropertyNames(v) : Object.keys(v)), ...symbols]
}

function value (ctx, v, depth, typed) {
  if (v === null || typeof v !== 'object' && typeof v !== 'function') return primitive(ctx, v)
  const own = v[custom]
  if (ctx.customInspect && typeof own === 'function' && own !== inspect) {
    const made = own.call(v, ctx.depth === null ? null : ctx.depth - depth, { ...ctx.options }, inspect)
    if (made !== v) return typeof made === 'string' ? made.replace(/\n/g, '\n' + ' '.repeat(ctx.indent)) : value(ctx, made, depth)
  }
  if (ctx.seen.includes(v)) {
    if (!ctx.circular.has(v)) ctx.circular.set(v, ctx.circular.size + 1)
    return `[Circular *${ctx.circular.get(v)}]`
  }
  return object(ctx, v, depth, typed)
}

const isTyped = v => ArrayBuffer.isView(v) && !(v instanceof DataView)

function object (ctx, v, depth) {
  const name = className(v)
  let tag = v[Symbol.toStringTag]
  if (typeof tag !== 'string' || tag === name || Object.prototype.propertyIsEnumerable.call(v, Symbol.toStringTag)) tag = ''
  let keys = keysOf(v, ctx)
  let base = ''
  let braces = ['{', '}']
  let list = false
  let entries = () => []
  if (Array.isArray(v)) {
    keys = keys.filter(k => typeof k === 'symbol' || !/^(0|[1-9]\d*)$/.test(k))
    braces = [`${name !== 'Array' || tag !== '' ? prefix(name, tag, 'Array', `(${v.length})`) : ''}[`, ']']
    if (v.length === 0 && keys.length === 0) return braces[0] + ']'
    list = true
    entries = () => elements(ctx, v, depth)
  } else if (v instanceof Set || v instanceof Map) {
    const isMap = v instanceof Map
    braces[0] = `${prefix(name, tag, isMap ? 'Map' : 'Set', `(${v.size})`)}{`
    if (v.size === 0 && keys.length === 0) return braces[0] + '}'
    entries = () => {
      ctx.indent += 2
      const out = Array.from(v, e => isMap ? `${value(ctx, e[0], depth)} => ${value(ctx, e[1], depth)}` : value(ctx, e, depth))
      ctx.indent -= 2
      return out
    }
  } else if (isTyped(v)) {
    keys = keys.filter(k => typeof k === 'symbol' || !/^\d+$/.test(k))
    if (name === 'Buffer') return `<Buffer${Array.from(v.subarray(0, 50), b => ' ' + b.toString(16).padStart(2, '0')).join('')}${v.length > 50 ? ` ... ${v.length - 50} more byte${v.length > 51 ? 's' : ''}` : ''}>`
    braces = [`${prefix(name, tag, 'TypedArray', `(${v.length})`)}[`, ']']
    if (v.length === 0 && keys.length === 0) return braces[0] + ']'
    list = true
    entries = () => elements(ctx, v, depth)
  } else if (typeof v === 'function') {
    base = functionBase(v, name, tag)
    if (keys.length === 0) return base
  } else if (v instanceof RegExp || v instanceof Date) {
    base = v instanceof RegExp ? RegExp.prototype.toString.call(v) : isNaN(v) ? 'Invalid Date' : v.toISOString()
    if (name !== 'RegExp' && name !== 'Date') base = `${name} ${base}`
    if (keys.length === 0) return base
  } else if (v instanceof Error) {
    base = errorBase(v)
    keys = keys.filter(k => !['name', 'message', 'stack'].includes(k) || !base.includes(String(v[k])))
    if (Object.hasOwn(v, 'cause') && !keys.includes('cause')) keys.push('cause')
    if (keys.length === 0) return ctx.indent > 0 ? base.replace(/\n/g, '\n' + ' '.repeat(ctx.indent)) : base
  } else if (v instanceof Number || v instanceof String || v instanceof Boolean) {
    const type = v instanceof Number ? 'Number' : v instanceof String ? 'String' : 'Boolean'
    base = `[${type}: ${primitive({ maxStringLength: Infinity, breakLength: Infinity }, v.valueOf())}]`
    if (type === 'String') keys = keys.filter(k => !/^\d+$/.test(String(k)))
    if (keys.length === 0) return base
  } else if (v instanceof Promise || v instanceof WeakMap || v instanceof WeakSet) {
    braces[0] = `${prefix(name, tag, name)}{`
    entries = () => [v instanceof Promise ? '<pending>' : '<items unknown>']
  } else if (v instanceof ArrayBuffer) {
    braces[0] = `${prefix(name, tag, 'ArrayBuffer')}{`
    entries = () => [`[Uint8Contents]: <${Array.from(new Uint8Array(v).subarray(0, 50), b => b.toString(16).padStart(2, '0')).join(' ')}${v.byteLength > 50 ? ` ... ${v.byteLength - 50} more bytes` : ''}>`, `byteLength: ${v.byteLength}`]
  } else {
    if (Object.prototype.toString.call(v) === '[object Arguments]') braces[0] = '[Arguments] {'
    else if (name !== 'Object' || tag !== '') braces[0] = `${prefix(name, tag, 'Object')}{`
    if (keys.length === 0) return braces[0] + '}'
  }
  if (ctx.depth !== null && depth > ctx.depth) return `[${prefix(name, tag, Array.isArray(v) ? 'Array' : 'Object').trim().replace(/^\[(.*)\]$/, '$1')}]`
  depth++
  ctx.seen.push(v)
  ctx.current = depth
  let out = [...entries.call(null), ...keys.map(k => property(ctx, v, depth, k, list))]
  ctx.seen.pop()
  if (ctx.circular.has(v)) {
    const mark = `<ref *${ctx.circular.get(v)}>`
    if (base === '') braces[0] = `${mark} ${braces[0]}`
    else base = `${mark} ${base}`
  }
  if (ctx.sorted) out = out.sort(typeof ctx.sorted === 'function' ? ctx.sorted : undefined)
  return single(ctx, out, base, braces, list, depth, v)
}

function functionBase (v, name, tag) {
  const source = Function.prototype.toString.call(v)
  if (/^class\b/.test(source)) {
    const parent = Object.getPrototypeOf(v)?.name
    return `[class ${v.name || '(anonymous)'}${parent ? ` extends ${parent}` : ''}]`
  }
  const type = tag && tag !== 'Function' ? tag : name === null ? 'Function' : name
  return `[${type}${name === null ? ' (null prototype)' : ''}${v.name === '' ? ' (anonymous)' : `: ${v.name}`}]`
}

function errorBase (v) {
  const line = `${v.name || 'Error'}${v.message ? `: ${v.message}` : ''}`
  const stack = typeof v.stack === 'string' && v.stack !== '' ? v.stack : ''
  return stack === '' ? `[${line}]` : /\n\s+at /.test(stack) ? stack : `[${stack}]`
}

function elements (ctx, v, depth) {
  const out = []
  const most = Math.min(ctx.maxArrayLength, v.length)
  let i = 0
  for (; i < v.length && out.length < most; i++) {
    if (!(i in v)) {
      const start = i
      while (i + 1 < v.length && !(i + 1 in v)) i++
      out.push(`<${i - start + 1} empty item${i > start ? 's' : ''}>`)
    } else out.push(property(ctx, v, depth, i, true, true))
  }
  if (i < v.length) out.push(`... ${v.length - i} more item${v.length - i > 1 ? 's' : ''}`)
  return out
}

function property (ctx, v, depth, key, list, element) {
  const d = Object.getOwnPropertyDescriptor(v, key) || { value: v[key], enumerable: true }
  let text
  if (d.value !== undefined || !d.get && !d.set) {
    ctx.indent += 2
    text = value(ctx, d.value, depth)
    ctx.indent -= 2
  } else text = d.get ? d.set ? '[Getter/Setter]' : '[Getter]' : '[Setter]'
  if (element) return text
  const name = typeof key === 'symbol' ? `[${key.toString()}]` : key === '__proto__' ? "['__proto__']" : !d.enumerable ? `[${key}]` : isName.test(key) ? key : quoted(key)
  return `${name}: ${text}`
}

// single returns one line if it is short and not deeply nested, or else one line per entry.
function single (ctx, out, base, braces, list, depth, v) {
  const before = base ? `${base} ` : ''
  if (ctx.compact !== false) {
    const n = out.length
    if (list && n > 6) out = grouped(ctx, out, v)
    if (ctx.current - depth < ctx.compact && n === out.length) {
      const start = out.length + ctx.indent + braces[0].length + base.length + 10
      const length = out.reduce((sum, s) => sum + s.length, out.length + start)
      if (length <= ctx.breakLength && !base.includes('\n') && !out.some(s => s.includes('\n'))) return `${before}${braces[0]} ${out.join(', ')} ${braces[1]}`
    }
  }
  const line = `\n${' '.repeat(ctx.indent)}`
  return `${before}${braces[0]}${line}  ${out.join(`,${line}  `)}${line}${braces[1]}`
}

// grouped arranges the elements of a long array in columns.
function grouped (ctx, out, v) {
  const n = ctx.maxArrayLength < v.length ? out.length - 1 : out.length
  const lengths = out.slice(0, n).map(s => s.length)
  const total = lengths.reduce((sum, l) => sum + l + 2, 0)
  const longest = Math.max(...lengths)
  const width = longest + 2
  if (width * 3 + ctx.indent >= ctx.breakLength || !(total / width > 5 || longest <= 6)) return out
  const bias = Math.max(width - 3 - Math.sqrt(width - total / out.length), 1)
  const columns = Math.min(Math.round(Math.sqrt(2.5 * bias * n) / bias), Math.floor((ctx.breakLength - ctx.indent) / width), ctx.compact * 4, 15)
  if (columns <= 1) return out
  const widths = Array.from({ length: columns }, (_, c) => Math.max(0, ...lengths.filter((_, i) => i % columns === c)) + 2)
  const left = Array.from(v).some(x => typeof x !== 'number' && typeof x !== 'bigint')
  const lines = []
  for (let i = 0; i < n; i += columns) {
    const most = Math.min(i + columns, n)
    let s = ''
    for (let j = i; j < most; j++) {
      const last = j === most - 1
      if (last) s += left ? out[j] : out[j].padStart(widths[j - i] - 2)
      else s += left ? `${out[j]}, `.padEnd(widths[j - i]) : `${out[j]}, `.padStart(widths[j - i])
    }
    lines.push(s)
  }
  if (n < out.length) lines.push(out[n])
  return lines
}

function inspect (v, options, ...old) {
  if (typeof options === 'boolean') options = { showHidden: options, depth: old[0] }
  const o = { showHidden: false, depth: 2, customInspect: true, maxArrayLength: 100, maxStringLength: 10000, breakLength: 128, compact: 3, sorted: false, ...inspect.defaultOptions }
  if (!options || options.breakLength === undefined) o.breakLength = 80
  for (const [k, x] of Object.entries(options || {})) if (x !== undefined) o[k] = x
  if (o.depth === Infinity) o.depth = null
  if (o.maxArrayLength === null) o.maxArrayLength = Infinity
  if (o.maxStringLength === null) o.maxStringLength = Infinity
  return value({ ...o, options: o, seen: [], circular: new Map(), indent: 0, current: 0 }, v, 0)
}
inspect.custom = custom
inspect.defaultOptions = {}

function formatWithOptions (options, ...args) {
  let i = 0
  let out = ''
  if (typeof args[0] === 'string') {
    i = 1
    out = args.length === 1 ? args[0] : args[0].replace(/%[sdifjoOc%]/g, all => {
      if (all === '%%') return '%'
      if (i >= args.length) return all
      const v = args[i++]
      switch (all) {
        case '%s': return typeof v === 'bigint' ? `${v}n` : typeof v === 'number' ? number(v) : typeof v === 'object' && v !== null && !hasToString(v) ? inspect(v, { ...options, depth: 0, compact: 3 }) : String(v)
        case '%d': return typeof v === 'bigint' ? `${v}n` : typeof v === 'symbol' ? 'NaN' : number(Number(v))
        case '%i': return typeof v === 'bigint' ? `${v}n` : typeof v === 'symbol' ? 'NaN' : number(parseInt(v))
        case '%f': return typeof v === 'symbol' ? 'NaN' : number(parseFloat(v))
        case '%j': try { return JSON.stringify(v) } catch (e) { if (/circular/i.test(e.message)) return '[Circular]'; throw e }
        case '%o': return inspect(v, { ...options, showHidden: true, showProxy: true, depth: 4 })
        case '%O': return inspect(v, options)
        default: return ''
      }
    })
  }
  for (; i < args.length; i++) out += (i > 0 ? ' ' : '') + (typeof args[i] === 'string' ? args[i] : inspect(args[i], options))
  return out
}
const hasToString = v => v instanceof Error || typeof v.toString === 'function' && v.toString !== Object.prototype.toString && v.toString !== Array.prototype.toString

const promised = Symbol.for('nodejs.util.promisify.custom')
function promisify (f) {
  if (typeof f !== 'function') throw Object.assign(new TypeError(`The "original" argument must be of type function. Received ${f === null ? 'null' : typeof f}`), { code: 'ERR_INVALID_ARG_TYPE' })
  if (f[promised]) return f[promised]
  return Object.defineProperty(function (...args) {
    return new Promise((resolve, reject) => f.call(this, ...args, (e, v) => e ? reject(e) : resolve(v)))
  }, 'name', { value: f.name })
}
promisify.custom = promised

function callbackify (f) {
  return function (...args) {
    const done = args.pop()
    f.apply(this, args).then(v => done.call(this, null, v), e => done.call(this, e || new Error('Promise was rejected with falsy value')))
  }
}

function inherits (type, parent) {
  Object.defineProperty(type, 'super_', { value: parent, writable: true, configurable: true })
  Object.setPrototypeOf(type.prototype, parent.prototype)
}

// deepEqual implements assert's deepStrictEqual and, with loose, its deepEqual.
function deepEqual (a, b, loose, seen = []) {
  if (Object.is(a, b) || loose && (a == b || Number.isNaN(a) && Number.isNaN(b))) return true // eslint-disable-line eqeqeq
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false
  if (!loose && Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false
  if (Array.isArray(a) !== Array.isArray(b) || Object.prototype.toString.call(a) !== Object.prototype.toString.call(b)) return false
  if (seen.some(([x, y]) => x === a && y === b)) return true
  seen = [...seen, [a, b]]
  const same = (x, y) => deepEqual(x, y, loose, seen)
  if (a instanceof Date || a instanceof Number || a instanceof String || a instanceof Boolean) {
    if (!Object.is(a.valueOf(), b.valueOf())) return false
  } else if (a instanceof RegExp) {
    if (String(a) !== String(b) || a.lastIndex !== b.lastIndex) return false
  } else if (a instanceof Error) {
    if (a.message !== b.message || a.name !== b.name) return false
  } else if (a instanceof Map) {
    if (a.size !== b.size) return false
    for (const [k, v] of a) {
      const other = b.has(k) ? [k, b.get(k)] : [...b].find(([x]) => same(k, x))
      if (!other || !same(v, other[1])) return false
    }
  } else if (a instanceof Set) {
    if (a.size !== b.size) return false
    for (const v of a) if (!b.has(v) && ![...b].some(x => same(v, x))) return false
  } else if (Array.isArray(a) && a.length !== b.length) return false
  const keys = v => [...Object.keys(v), ...Object.getOwnPropertySymbols(v).filter(s => Object.prototype.propertyIsEnumerable.call(v, s))]
  const mine = keys(a)
  return mine.length === keys(b).length && mine.every(k => Object.hasOwn(b, k) && same(a[k], b[k]))
}

const is = type => v => v instanceof type
const types = {
  isDate: is(Date), isRegExp: is(RegExp), isMap: is(Map), isSet: is(Set), isPromise: is(Promise), isNativeError: is(Error), isWeakMap: is(WeakMap), isWeakSet: is(WeakSet),
  isArrayBuffer: is(ArrayBuffer), isAnyArrayBuffer: is(ArrayBuffer), isDataView: is(DataView), isUint8Array: is(Uint8Array), isTypedArray: isTyped, isArrayBufferView: ArrayBuffer.isView,
  isNumberObject: is(Number), isStringObject: is(String), isBooleanObject: is(Boolean), isBoxedPrimitive: v => v instanceof Number || v instanceof String || v instanceof Boolean,
  isAsyncFunction: v => Object.prototype.toString.call(v) === '[object AsyncFunction]', isGeneratorFunction: v => Object.prototype.toString.call(v) === '[object GeneratorFunction]'
}

module.exports = {
  inspect,
  format: (...args) => formatWithOptions({}, ...args),
  formatWithOptions,
  promisify,
  callbackify,
  inherits,
  deprecate: f => f,
  debuglog: () => Object.assign(() => {}, { enabled: false }),
  isDeepStrictEqual: (a, b) => deepEqual(a, b, false),
  deepEqual,
  stripVTControlCharacters: s => s.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*(\x07|\x1b\\)/g, ''),
  types,
  isArray: Array.isArray,
  get TextEncoder () { return require('buffer').TextEncoder },
  get TextDecoder () { return require('buffer').TextDecoder }
}
