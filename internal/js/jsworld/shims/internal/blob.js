// Blob and File, as in browsers and Node.js. The bytes are in memory.
const { Buffer, TextEncoder } = require('buffer')

const bytes = new WeakMap()
const bytesOf = part => {
  if (part instanceof Blob) return bytes.get(part)
  if (part instanceof ArrayBuffer) return new Uint8Array(part)
  if (ArrayBuffer.isView(part)) return new Uint8Array(part.buffer, part.byteOffset, part.byteLength)
  return new TextEncoder().encode(String(part))
}
const typeOf = type => /^[\x20-\x7e]*$/.test(type) ? type.toLowerCase() : ''

class Blob {
  constructor (parts = [], { type = '' } = {}) {
    if (parts === null || typeof parts !== 'object' || typeof parts[Symbol.iterator] !== 'function') {
      throw Object.assign(new TypeError('The "sources" argument must be an instance of a sequence'), { code: 'ERR_INVALID_ARG_TYPE' })
    }
    bytes.set(this, new Uint8Array(Buffer.concat(Array.from(parts, bytesOf))))
    Object.defineProperty(this, 'type', { value: typeOf(String(type)) })
  }
  get size () { return bytes.get(this).length }
  slice (start = 0, end = this.size, type = '') { return new Blob([bytes.get(this).slice(start, end)], { type }) }
  async bytes () { return bytes.get(this).slice() }
  async arrayBuffer () { return bytes.get(this).slice().buffer }
  async text () { return new TextDecoder().decode(bytes.get(this)) }
  stream () { return require('internal/streams').streamOf(bytes.get(this)) }
  get [Symbol.toStringTag] () { return 'Blob' }
}

class File extends Blob {
  constructor (parts, name, options = {}) {
    if (name === undefined) throw Object.assign(new TypeError('The "fileBits" and "fileName" arguments must be specified'), { code: 'ERR_MISSING_ARGS' })
    super(parts, options)
    Object.defineProperty(this, 'name', { value: String(name) })
    Object.defineProperty(this, 'lastModified', { value: Number(options.lastModified ?? Date.now()) })
  }
  get [Symbol.toStringTag] () { return 'File' }
}

module.exports = { Blob, File, bytesOf }
