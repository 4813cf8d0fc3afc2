// The buffer module of Node.js, for text and bytes: Buffer, btoa, atob, TextEncoder and
// TextDecoder (UTF-8, UTF-16LE and Latin-1).

// utf8 returns the bytes of a text. An unpaired surrogate becomes U+FFFD.
function utf8 (s) {
  const out = new Uint8Array(s.length * 3)
  let n = 0
  for (let i = 0; i < s.length; i++) {
    let c = s.charCodeAt(i)
    if (c < 0x80) { out[n++] = c; continue }
    if (c >= 0xd800 && c < 0xe000) {
      const low = s.charCodeAt(i + 1)
      if (c < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00)
        i++
      } else c = 0xfffd
    }
    if (c < 0x800) out[n++] = 0xc0 | c >> 6
    else {
      if (c < 0x10000) out[n++] = 0xe0 | c >> 12
      else {
        out[n++] = 0xf0 | c >> 18
        out[n++] = 0x80 | c >> 12 & 63
      }
      out[n++] = 0x80 | c >> 6 & 63
    }
    out[n++] = 0x80 | c & 63
  }
  return out.slice(0, n)
}

const join = units => {
  let s = ''
  for (let i = 0; i < units.length; i += 4096) s += String.fromCharCode.apply(null, units.slice(i, i + 4096))
  return s
}

// text decodes UTF-8. Invalid bytes become U+FFFD, one for each longest beginning of a sequence;
// with fatal they throw.
function text (bytes, fatal) {
  const units = []
  let done = ''
  const bad = () => {
    if (fatal) throw Object.assign(new TypeError('The encoded data was not valid for encoding utf-8'), { code: 'ERR_ENCODING_INVALID_ENCODED_DATA' })
    units.push(0xfffd)
  }
  for (let i = 0; i < bytes.length;) {
    if (units.length >= 4096) done += join(units.splice(0))
    const b = bytes[i++]
    if (b < 0x80) { units.push(b); continue }
    const n = b >= 0xc2 && b < 0xe0 ? 1 : b >= 0xe0 && b < 0xf0 ? 2 : b >= 0xf0 && b < 0xf5 ? 3 : 0
    if (n === 0) { bad(); continue }
    let c = b & (0x3f >> n)
    let low = b === 0xe0 ? 0xa0 : b === 0xf0 ? 0x90 : 0x80
    let high = b === 0xed ? 0x9f : b === 0xf4 ? 0x8f : 0xbf
    let k = 0
    for (; k < n && i < bytes.length && bytes[i] >= low && bytes[i] <= high; k++) {
      c = c << 6 | bytes[i++] & 63
      low = 0x80
      high = 0xbf
    }
    if (k < n) { bad(); continue }
    if (c < 0x10000) units.push(c)
    else units.push(0xd800 + (c - 0x10000 >> 10), 0xdc00 + (c - 0x10000 & 0x3ff))
  }
  return done + join(units)
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

function toBase64 (bytes, url) {
  const set = letters + (url ? '-_' : '+/')
  let s = ''
  for (let i = 0; i < bytes.length; i += 3) {
    const n = bytes[i] << 16 | (bytes[i + 1] || 0) << 8 | (bytes[i + 2] || 0)
    const left = bytes.length - i
    s += set[n >> 18] + set[n >> 12 & 63] + (left > 1 ? set[n >> 6 & 63] : url ? '' : '=') + (left > 2 ? set[n & 63] : url ? '' : '=')
  }
  return s
}

function fromBase64 (s) {
  const out = new Uint8Array(Math.ceil(s.length * 3 / 4))
  let at = 0
  let bits = 0
  let n = 0
  for (let i = 0; i < s.length; i++) {
    const v = values[s.charCodeAt(i)]
    if (v === 64) break
    if (v === undefined || v === 65) continue
    n = (n << 6 | v) & 0xffffff
    bits += 6
    if (bits >= 8) {
      bits -= 8
      out[at++] = n >> bits & 255
    }
  }
  return out.slice(0, at)
}
// values are the values of the letters of base64. 64 ends the text, 65 is skipped.
const values = new Uint8Array(256).fill(65)
for (let i = 0; i < 64; i++) values[(letters + '+/').charCodeAt(i)] = i
values[45] = 62
values[95] = 63
values[61] = 64

const latin1 = (s, mask) => Array.from({ length: s.length }, (_, i) => s.charCodeAt(i) & mask)

const codes = {
  utf8: { bytes: utf8, text: b => text(b) },
  hex: {
    bytes: s => {
      const out = []
      for (let i = 0; i + 1 < s.length && /^[0-9a-f]{2}$/i.test(s.slice(i, i + 2)); i += 2) out.push(parseInt(s.slice(i, i + 2), 16))
      return out
    },
    text: b => Array.prototype.map.call(b, x => x.toString(16).padStart(2, '0')).join('')
  },
  base64: { bytes: fromBase64, text: b => toBase64(b, false) },
  base64url: { bytes: fromBase64, text: b => toBase64(b, true) },
  latin1: { bytes: s => latin1(s, 255), text: b => join(Array.from(b)) },
  ascii: { bytes: s => latin1(s, 255), text: b => join(Array.from(b, x => x & 127)) },
  utf16le: {
    bytes: s => Array.from({ length: s.length * 2 }, (_, i) => s.charCodeAt(i >> 1) >> (i & 1 ? 8 : 0) & 255),
    text: b => join(Array.from({ length: b.length >> 1 }, (_, i) => b[2 * i] | b[2 * i + 1] << 8))
  }
}
const aliases = { 'utf-8': 'utf8', binary: 'latin1', ucs2: 'utf16le', 'ucs-2': 'utf16le', 'utf-16le': 'utf16le' }

function code (encoding = 'utf8') {
  const name = String(encoding).toLowerCase()
  const found = codes[aliases[name] || name]
  if (!found) throw Object.assign(new TypeError(`Unknown encoding: ${encoding}`), { code: 'ERR_UNKNOWN_ENCODING' })
  return found
}

const wrong = (name, v, wanted) => Object.assign(new TypeError(`The "${name}" argument must be ${wanted}. Received ${v === null ? 'null' : v === undefined ? 'undefined' : `type ${typeof v}`}`), { code: 'ERR_INVALID_ARG_TYPE' })

function range (name, v, low, high) {
  if (typeof v !== 'number') throw wrong(name, v, 'of type number')
  if (!Number.isInteger(v) || v < low || v > high) {
    throw Object.assign(new RangeError(`The value of "${name}" is out of range. It must be ${Number.isInteger(v) ? `>= ${low} and <= ${high}` : 'an integer'}. Received ${v}`), { code: 'ERR_OUT_OF_RANGE' })
  }
  return v
}

class Buffer extends Uint8Array {
  static from (v, second, length) {
    if (typeof v === 'string') return over(code(second).bytes(v))
    if (v instanceof ArrayBuffer) return new Buffer(v, second, length)
    if (v === null || v === undefined || typeof v !== 'object') throw wrong('first argument', v, 'of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object')
    if (v.type === 'Buffer' && Array.isArray(v.data)) return over(v.data)
    const plain = typeof v.valueOf === 'function' ? v.valueOf() : v
    return plain !== v && plain !== null ? Buffer.from(plain, second, length) : over(v)
  }
  static of (...values) { return over(values) }
  static alloc (n, fill, encoding) {
    range('size', n, 0, Buffer.constants.MAX_LENGTH)
    const b = new Buffer(n)
    return fill === undefined || fill === 0 ? b : b.fill(fill, encoding)
  }
  static allocUnsafe (n) { return Buffer.alloc(n) }
  static isBuffer (v) { return v instanceof Buffer }
  static isEncoding (v) { return typeof v === 'string' && (aliases[v.toLowerCase()] || v.toLowerCase()) in codes }
  static byteLength (v, encoding) { return typeof v === 'string' ? code(encoding).bytes(v).length : v.byteLength }
  static compare (a, b) {
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1
    }
    return Math.sign(a.length - b.length)
  }
  static concat (list, total = list.reduce((n, b) => n + b.length, 0)) {
    const out = Buffer.alloc(total)
    let at = 0
    for (const b of list) {
      const part = at + b.length > total ? b.subarray(0, Math.max(0, total - at)) : b
      out.set(part, Math.min(at, total))
      at += b.length
    }
    return out
  }

  toString (encoding, start = 0, end = this.length) { return code(encoding).text(this.subarray(Math.max(0, start), Math.max(0, end))) }
  toLocaleString (encoding, start, end) { return this.toString(encoding, start, end) }
  toJSON () { return { type: 'Buffer', data: Array.from(this) } }
  equals (other) { return Buffer.compare(this, other) === 0 }
  compare (other, start = 0, end = other.length, from = 0, to = this.length) { return Buffer.compare(this.subarray(from, to), other.subarray(start, end)) }
  slice (start, end) { return this.subarray(start, end) }
  write (s, offset = 0, length, encoding) {
    if (typeof offset === 'string') [offset, encoding] = [0, offset]
    if (typeof length === 'string') [length, encoding] = [undefined, length]
    let bytes = code(encoding).bytes(s)
    const room = Math.min(length ?? Infinity, this.length - offset)
    if (bytes.length > room) {
      let n = room
      if (code(encoding) === codes.utf8) while (n > 0 && (bytes[n] & 0xc0) === 0x80) n-- // never write a part of a character
      bytes = bytes.slice(0, n)
    }
    this.set(bytes, offset)
    return bytes.length
  }
  copy (target, at = 0, start = 0, end = this.length) {
    const part = this.subarray(start, Math.min(end, start + target.length - at))
    target.set(part, at)
    return part.length
  }
  fill (v, start = 0, end = this.length, encoding) {
    if (typeof start === 'string') [start, encoding] = [0, start]
    if (typeof end === 'string') [end, encoding] = [this.length, end]
    const bytes = typeof v === 'number' ? [v & 255] : typeof v === 'string' ? code(encoding).bytes(v) : v
    for (let i = start; i < end; i++) this[i] = bytes.length === 0 ? 0 : bytes[(i - start) % bytes.length]
    return this
  }
  indexOf (v, from = 0, encoding) {
    if (typeof from === 'string') [from, encoding] = [0, from]
    const bytes = typeof v === 'number' ? [v & 255] : typeof v === 'string' ? code(encoding).bytes(v) : v
    for (let i = from < 0 ? Math.max(0, this.length + from) : from; i + bytes.length <= this.length; i++) {
      let k = 0
      while (k < bytes.length && this[i + k] === bytes[k]) k++
      if (k === bytes.length) return i
    }
    return -1
  }
  lastIndexOf (v, from = this.length, encoding) {
    for (let i = Math.min(from, this.length); i >= 0; i--) {
      if (this.subarray(i).indexOf(v, 0, encoding) === 0) return i
    }
    return -1
  }
  includes (v, from, encoding) { return this.indexOf(v, from, encoding) >= 0 }
  swap16 () {
    if (this.length % 2) throw Object.assign(new RangeError('Buffer size must be a multiple of 16-bits'), { code: 'ERR_INVALID_BUFFER_SIZE' })
    for (let i = 0; i + 1 < this.length; i += 2) [this[i], this[i + 1]] = [this[i + 1], this[i]]
    return this
  }
  readUIntBE (at, n) { return Array.from(this.subarray(inside(this, at, n), at + n)).reduce((v, b) => v * 256 + b, 0) }
  readUIntLE (at, n) { return Array.from(this.subarray(inside(this, at, n), at + n)).reduceRight((v, b) => v * 256 + b, 0) }
  readIntBE (at, n) { return signed(this.readUIntBE(at, n), n) }
  readIntLE (at, n) { return signed(this.readUIntLE(at, n), n) }
  writeUIntBE (v, at, n) {
    range('value', v, 0, 2 ** (8 * n) - 1)
    inside(this, at, n)
    for (let i = n - 1; i >= 0; i--, v = Math.floor(v / 256)) this[at + i] = v % 256
    return at + n
  }
  writeUIntLE (v, at, n) {
    range('value', v, 0, 2 ** (8 * n) - 1)
    inside(this, at, n)
    for (let i = 0; i < n; i++, v = Math.floor(v / 256)) this[at + i] = v % 256
    return at + n
  }
  writeIntBE (v, at, n) { return this.writeUIntBE(unsigned(v, n), at, n) }
  writeIntLE (v, at, n) { return this.writeUIntLE(unsigned(v, n), at, n) }
}

const signed = (v, n) => v >= 2 ** (8 * n - 1) ? v - 2 ** (8 * n) : v
const unsigned = (v, n) => {
  range('value', v, -(2 ** (8 * n - 1)), 2 ** (8 * n - 1) - 1)
  return v < 0 ? v + 2 ** (8 * n) : v
}
const inside = (b, at, n) => {
  if (b.length < n) throw Object.assign(new RangeError('Attempt to access memory outside buffer bounds'), { code: 'ERR_BUFFER_OUT_OF_BOUNDS' })
  return range('offset', at, 0, b.length - n)
}

function over (list) {
  const b = new Buffer(list.length)
  for (let i = 0; i < list.length; i++) b[i] = list[i] & 255
  return b
}

const method = (name, f) => Object.defineProperty(Buffer.prototype, name, { value: f, writable: true, configurable: true })
for (const [bits, n] of [['8', 1], ['16BE', 2], ['16LE', 2], ['32BE', 4], ['32LE', 4]]) {
  const order = bits.endsWith('LE') ? 'LE' : 'BE'
  method('readUInt' + bits, function (at = 0) { return this['readUInt' + order](at, n) })
  method('readInt' + bits, function (at = 0) { return this['readInt' + order](at, n) })
  method('writeUInt' + bits, function (v, at = 0) { return this['writeUInt' + order](v, at, n) })
  method('writeInt' + bits, function (v, at = 0) { return this['writeInt' + order](v, at, n) })
}
for (const [name, kind, n] of [['Float', 'Float32', 4], ['Double', 'Float64', 8], ['BigInt64', 'BigInt64', 8], ['BigUInt64', 'BigUint64', 8]]) {
  for (const order of ['LE', 'BE']) {
    const view = b => new DataView(b.buffer, b.byteOffset, b.byteLength)
    method(`read${name}${order}`, function (at = 0) { return view(this)['get' + kind](inside(this, at, n), order === 'LE') })
    method(`write${name}${order}`, function (v, at = 0) {
      view(this)['set' + kind](inside(this, at, n), v, order === 'LE')
      return at + n
    })
  }
}
for (const name of Object.getOwnPropertyNames(Buffer.prototype)) {
  if (name.includes('UInt')) method(name.replace('UInt', 'Uint'), Buffer.prototype[name])
}
Buffer.constants = Object.freeze({ MAX_LENGTH: 2 ** 31 - 1, MAX_STRING_LENGTH: 2 ** 29 - 24 })
Buffer.poolSize = 8192
// Node's Buffer can be called without new, which old packages do.
const Callable = new Proxy(Buffer, { apply: (_, __, [v, ...rest]) => typeof v === 'number' ? Buffer.alloc(v) : Buffer.from(v, ...rest) })

class TextEncoder {
  get encoding () { return 'utf-8' }
  encode (s = '') { return new Uint8Array(utf8(String(s))) }
  encodeInto (s, target) {
    let read = 0
    let written = 0
    for (const c of s) {
      const bytes = utf8(c)
      if (written + bytes.length > target.length) break
      target.set(bytes, written)
      read += c.length
      written += bytes.length
    }
    return { read, written }
  }
}

Buffer.allocUnsafeSlow = function (n) { return Buffer.alloc(n) } // packages call it with new

// whole replaces each surrogate without its other half by U+FFFD.
const whole = s => text(utf8(s))

// utf16 decodes UTF-16LE. A byte too many is invalid by itself, or with the half of a pair before it.
const utf16 = bytes => {
  const s = codes.utf16le.text(bytes)
  const half = (s.charCodeAt(s.length - 1) & 0xfc00) === 0xd800
  return whole(s) + (bytes.length % 2 && !half ? '\ufffd' : '')
}

class TextDecoder {
  #left = []
  #begun = false // of a text in several parts
  constructor (label = 'utf-8', options = {}) {
    const name = String(label).trim().toLowerCase()
    this.encoding = { 'utf-8': 'utf-8', utf8: 'utf-8', 'utf-16le': 'utf-16le', 'utf-16': 'utf-16le', latin1: 'windows-1252', 'iso-8859-1': 'windows-1252', ascii: 'windows-1252' }[name]
    if (!this.encoding) throw Object.assign(new RangeError(`The "${label}" encoding is not supported`), { code: 'ERR_ENCODING_NOT_SUPPORTED' })
    this.fatal = !!options.fatal
    this.ignoreBOM = !!options.ignoreBOM
  }
  decode (input = new Uint8Array(0), options = {}) {
    const view = input instanceof ArrayBuffer ? new Uint8Array(input) : new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
    let bytes = [...this.#left, ...view]
    this.#left = []
    if (options.stream && this.encoding === 'utf-8') { // a character whose other bytes come later
      let n = 0
      while (n < 3 && n < bytes.length && (bytes[bytes.length - 1 - n] & 0xc0) === 0x80) n++
      const first = bytes[bytes.length - 1 - n]
      if (first >= 0xc2 && n < (first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1)) [bytes, this.#left] = [bytes.slice(0, bytes.length - 1 - n), bytes.slice(bytes.length - 1 - n)]
    }
    if (options.stream && this.encoding === 'utf-16le' && bytes.length % 2) [bytes, this.#left] = [bytes.slice(0, -1), bytes.slice(-1)]
    const s = this.encoding === 'utf-8' ? text(bytes, this.fatal) : this.encoding === 'utf-16le' ? utf16(bytes) : codes.latin1.text(bytes)
    const first = !this.#begun
    this.#begun = !!options.stream && (this.#begun || s !== '')
    return first && !this.ignoreBOM && s.startsWith('\ufeff') ? s.slice(1) : s
  }
}

const invalid = message => new (require('internal/dom').DOMException)(message, 'InvalidCharacterError')
function btoa (s) {
  s = String(s)
  if (/[^\0-\xff]/.test(s)) throw invalid('Invalid character')
  return toBase64(latin1(s, 255))
}
function atob (s) {
  s = String(s).replace(/[\t\n\f\r ]/g, '')
  if (s.length % 4 === 0) s = s.replace(/==?$/, '')
  if (s.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(s)) throw invalid('The string to be decoded is not correctly encoded.')
  return join(fromBase64(s))
}

module.exports = {
  Buffer: Callable, SlowBuffer: Callable, kMaxLength: Buffer.constants.MAX_LENGTH, constants: Buffer.constants, btoa, atob, TextEncoder, TextDecoder,
  get Blob () { return require('internal/blob').Blob },
  get File () { return require('internal/blob').File }
}
