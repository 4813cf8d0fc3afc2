// fetch with Headers, Request and Response, as in browsers and Node.js. A response arrives with
// its whole body. The permissions of a tool decide what it may fetch.
const { Buffer, TextEncoder } = require('buffer')
const { DOMException, AbortSignal } = require('internal/dom')

const token = /^[!#$%&'*+.^_`|~A-Za-z0-9-]+$/

class Headers {
  #of = new Map()
  constructor (init) {
    if (init === undefined || init === null) return
    for (const [k, v] of typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init)) this.append(k, v)
  }
  #key (k) {
    if (!token.test(String(k))) throw new TypeError(`Headers: ${k} is an invalid header name.`)
    return String(k).toLowerCase()
  }
  #value (v) {
    v = String(v).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '')
    if (/[\0\r\n]/.test(v)) throw new TypeError('Headers: the value contains a line break or NUL.')
    return v
  }
  append (k, v) {
    const key = this.#key(k)
    this.#of.set(key, [...(this.#of.get(key) || []), this.#value(v)])
  }
  set (k, v) { this.#of.set(this.#key(k), [this.#value(v)]) }
  get (k) { return this.#of.get(this.#key(k))?.join(', ') ?? null }
  has (k) { return this.#of.has(this.#key(k)) }
  delete (k) { this.#of.delete(this.#key(k)) }
  getSetCookie () { return [...(this.#of.get('set-cookie') || [])] }
  forEach (f, self) { for (const [k, v] of this) f.call(self, v, k, this) }
  * entries () {
    for (const k of [...this.#of.keys()].sort()) {
      if (k === 'set-cookie') for (const v of this.#of.get(k)) yield [k, v]
      else yield [k, this.get(k)]
    }
  }
  * keys () { for (const [k] of this) yield k }
  * values () { for (const [, v] of this) yield v }
  [Symbol.iterator] () { return this.entries() }
  get [Symbol.toStringTag] () { return 'Headers' }
}

// bytesOf returns a body as bytes, and its content type.
function bytesOf (body) {
  if (body === undefined || body === null) return { bytes: null }
  if (body instanceof ArrayBuffer) return { bytes: new Uint8Array(body.slice(0)) }
  if (ArrayBuffer.isView(body)) return { bytes: new Uint8Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength)) }
  const type = body instanceof URLSearchParams ? 'application/x-www-form-urlencoded;charset=UTF-8' : 'text/plain;charset=UTF-8'
  return { bytes: new TextEncoder().encode(String(body)), type }
}

class Body {
  #bytes = null
  #text // of a body that is text: encoded when its bytes are needed
  #used = false
  constructor (body, headers) {
    if (body instanceof Arrived) {
      this.#text = body.text
      this.#bytes = body.text === undefined ? Buffer.from(body.bytes, 'base64') : null
      return
    }
    const { bytes, type } = bytesOf(body)
    this.#bytes = bytes
    if (type && !headers.has('content-type')) headers.set('content-type', type)
  }
  static bytes (b) {
    if (b.#bytes === null && b.#text !== undefined) b.#bytes = new TextEncoder().encode(b.#text)
    return b.#bytes
  }
  get bodyUsed () { return this.#used }
  get body () { return this.#bytes === null && this.#text === undefined ? null : { locked: this.#used } }
  #take () {
    if (this.#used) throw new TypeError('Body is unusable: Body has already been read')
    this.#used = this.body !== null
  }
  async bytes () {
    this.#take()
    return Body.bytes(this) || new Uint8Array(0)
  }
  async arrayBuffer () { return (await this.bytes()).buffer }
  async text () {
    this.#take()
    const s = this.#text ?? (this.#bytes === null ? '' : Buffer.from(this.#bytes.buffer).toString())
    return s.replace(/^\ufeff/, '')
  }
  async json () { return JSON.parse(await this.text()) }
}

// Arrived is the body of a response of the host call.
class Arrived {
  constructor (a) { Object.assign(this, { text: a.text, bytes: a.bytes }) }
}

class Request extends Body {
  constructor (input, init = {}) {
    const from = input instanceof Request ? input : null
    const url = URL.parse(from ? from.url : String(input))
    if (!url) throw new TypeError(`Failed to parse URL from ${input}`)
    if (url.username || url.password) throw new TypeError(`Request cannot be constructed from a URL that includes credentials: ${url.origin}`)
    const method = String(init.method ?? from?.method ?? 'GET')
    if (!token.test(method)) throw new TypeError(`'${method}' is not a valid HTTP method.`)
    const headers = new Headers(init.headers ?? from?.headers)
    const body = init.body ?? (from ? Body.bytes(from) : null)
    const upper = /^(get|head|post|put|delete|options)$/i.test(method) ? method.toUpperCase() : method
    if (body !== null && (upper === 'GET' || upper === 'HEAD')) throw new TypeError('Request with GET/HEAD method cannot have body.')
    super(body, headers)
    Object.assign(this, { url: url.href, method: upper, headers, redirect: init.redirect ?? from?.redirect ?? 'follow', signal: init.signal ?? from?.signal ?? new AbortSignal() })
  }
  clone () { return new Request(this) }
}

class Response extends Body {
  constructor (body = null, init = {}) {
    const headers = new Headers(init.headers)
    super(body, headers)
    const status = init.status ?? 200
    if (status < 200 || status > 599) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.')
    Object.assign(this, { status, statusText: init.statusText ?? '', headers, url: '', redirected: false, type: 'default' })
  }
  get ok () { return this.status >= 200 && this.status < 300 }
  clone () {
    if (this.bodyUsed) throw new TypeError('Response.clone: Body has already been consumed.')
    return Object.assign(new Response(Body.bytes(this), this), { url: this.url, redirected: this.redirected, type: this.type })
  }
  static json (v, init = {}) {
    const headers = new Headers(init.headers)
    if (!headers.has('content-type')) headers.set('content-type', 'application/json')
    return new Response(JSON.stringify(v), { ...init, headers })
  }
  static error () { return Object.assign(new Response(null), { status: 0, type: 'error' }) }
}

async function fetch (input, init) {
  const r = new Request(input, init)
  r.signal.throwIfAborted()
  const bytes = Body.bytes(r)
  const asked = __ask('fetch', { url: r.url, method: r.method, headers: [...r.headers], body: bytes && Buffer.from(bytes.buffer).toString('base64'), redirect: r.redirect })
  const stopped = new Promise((_, reject) => r.signal.addEventListener('abort', () => reject(r.signal.reason)))
  stopped.catch(() => {})
  let a
  try {
    a = await Promise.race([asked, stopped])
  } catch (e) {
    if (r.signal.aborted) {
      asked.catch(() => {})
      throw r.signal.reason
    }
    throw e
  }
  const none = [101, 204, 205, 304].includes(a.status)
  const out = new Response(none ? null : new Arrived(a), { status: a.status, statusText: a.statusText, headers: a.headers })
  return Object.assign(out, { url: a.url, redirected: a.redirected, type: 'basic' })
}

module.exports = { fetch, Headers, Request, Response, DOMException }
