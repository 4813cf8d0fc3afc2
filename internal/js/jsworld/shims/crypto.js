// The functions of Node's crypto that tools use for names, checksums and signatures: random values,
// digests and HMAC. There are no ciphers and no keys.
const { Buffer } = require('buffer')
const { random, hasDigest, digest, hmac, equalBytes } = __lent()
const { absent } = require('internal/absent')

const bytesOf = (v, encoding) => {
  if (typeof v === 'string') return Buffer.from(v, encoding)
  if (v instanceof ArrayBuffer) return new Uint8Array(v)
  if (ArrayBuffer.isView(v)) return new Uint8Array(v.buffer, v.byteOffset, v.byteLength)
  throw Object.assign(new TypeError(`The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received ${v === null ? 'null' : typeof v}`), { code: 'ERR_INVALID_ARG_TYPE' })
}
const written = (bytes, encoding) => !encoding || encoding === 'buffer' ? bytes : bytes.toString(encoding)

// Hash collects what it is given; finish computes the digest of it.
class Hash {
  #parts = []
  #done = false
  #name
  #finish
  constructor (name, finish) {
    this.#name = name
    this.#finish = finish
  }
  update (data, encoding) {
    this.#open()
    this.#parts.push(Uint8Array.from(bytesOf(data, encoding)))
    return this
  }
  digest (encoding) {
    this.#open()
    this.#done = true
    return written(Buffer.from(this.#finish(this.#name, Buffer.concat(this.#parts))), encoding)
  }
  copy () {
    this.#open()
    const made = new Hash(this.#name, this.#finish)
    made.#parts = [...this.#parts]
    return made
  }
  #open () {
    if (this.#done) throw Object.assign(new Error('Digest already called'), { code: 'ERR_CRYPTO_HASH_FINALIZED' })
  }
}

const checkDigest = (name, message, code) => {
  if (typeof name !== 'string') throw Object.assign(new TypeError('The name of a digest must be of type string'), { code: 'ERR_INVALID_ARG_TYPE' })
  if (!hasDigest(name)) throw Object.assign(new Error(message), code && { code })
}
const createHash = name => {
  checkDigest(name, 'Digest method not supported')
  return new Hash(name, digest)
}
const createHmac = (name, key) => {
  checkDigest(name, `Invalid digest: ${name}`, 'ERR_CRYPTO_INVALID_DIGEST')
  const secret = bytesOf(key)
  return new Hash(name, (name, data) => hmac(name, secret, data))
}
const hash = (name, data, encoding = 'hex') => createHash(name).update(data).digest(encoding)

// later passes a result to the callback of a function that also works without one.
const later = (done, make) => {
  if (typeof done !== 'function') return make()
  const v = make()
  setTimeout(() => done(null, v), 0)
}
const size = (n, most) => {
  if (typeof n !== 'number') throw Object.assign(new TypeError(`The "size" argument must be of type number. Received ${n === null ? 'null' : typeof n}`), { code: 'ERR_INVALID_ARG_TYPE' })
  if (!(n >= 0 && n <= most)) throw Object.assign(new RangeError(`The value of "size" is out of range. It must be >= 0 && <= ${most}. Received ${n}`), { code: 'ERR_OUT_OF_RANGE' })
  return n
}
const randomBytes = (n, done) => {
  size(n, 2 ** 31 - 1)
  return later(done, () => Buffer.from(random(n)))
}
const randomFillSync = (view, offset = 0, length = view.byteLength - offset) => {
  const bytes = bytesOf(view)
  bytes.set(new Uint8Array(random(size(length, bytes.length - offset))), offset)
  return view
}
const randomFill = (view, ...rest) => {
  const done = rest.pop()
  later(done, () => randomFillSync(view, ...rest))
}
const randomInt = (min, max, done) => {
  if (typeof max !== 'number') [min, max, done] = [0, min, max]
  const range = max - min
  if (!(Number.isSafeInteger(min) && Number.isSafeInteger(max) && range > 0 && range < 2 ** 48)) {
    throw Object.assign(new RangeError(`The value of "max" is out of range. It must be greater than the value of "min" (${min}). Received ${max}`), { code: 'ERR_OUT_OF_RANGE' })
  }
  return later(done, () => {
    for (;;) { // numbers at the end of the range would make the first values more likely
      const n = Buffer.from(random(6)).readUIntBE(0, 6)
      if (n < 2 ** 48 - 2 ** 48 % range) return min + n % range
    }
  })
}
const randomUUID = () => {
  const b = new Uint8Array(random(16))
  b[6] = b[6] & 0x0f | 0x40
  b[8] = b[8] & 0x3f | 0x80
  return Buffer.from(b).toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
const timingSafeEqual = (a, b) => {
  if (a.byteLength !== b.byteLength) throw Object.assign(new RangeError('Input buffers must have the same byte length'), { code: 'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH' })
  return equalBytes(bytesOf(a), bytesOf(b))
}

// ---- the global crypto

const getRandomValues = view => {
  const { DOMException } = require('internal/dom')
  if (!ArrayBuffer.isView(view) || view instanceof Float32Array || view instanceof Float64Array || view instanceof DataView) throw new DOMException('The data argument must be an integer-type TypedArray', 'TypeMismatchError')
  if (view.byteLength > 65536) throw new DOMException('The requested length exceeds 65,536 bytes', 'QuotaExceededError')
  return randomFillSync(view)
}
const subtle = {
  async digest (algorithm, data) {
    const name = String(algorithm?.name ?? algorithm)
    if (!/^sha-(1|256|384|512)$/i.test(name)) throw new (require('internal/dom').DOMException)('Unrecognized algorithm name', 'NotSupportedError')
    return digest(name, bytesOf(data))
  }
}
const rest = (own, title) => {
  const none = absent(title)
  return new Proxy(own, { get: (_, member) => member in own ? own[member] : none[member] })
}
const webcrypto = { getRandomValues, randomUUID, subtle: rest(subtle, 'crypto.subtle') }
Object.defineProperty(webcrypto, Symbol.toStringTag, { value: 'Crypto' })

const own = {
  createHash, createHmac, hash, randomBytes, pseudoRandomBytes: randomBytes, randomFill, randomFillSync, randomInt, randomUUID, timingSafeEqual, getRandomValues,
  getHashes: () => ['md5', 'sha1', 'sha224', 'sha256', 'sha3-256', 'sha3-384', 'sha3-512', 'sha384', 'sha512', 'sha512-256'],
  webcrypto, subtle: webcrypto.subtle
}
module.exports = rest(own, 'crypto')
