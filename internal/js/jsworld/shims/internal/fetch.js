// fetch with Headers, Request and Response, as in browsers and Node.js. A request is sent, and a
// response arrives, with its whole body. The permissions of a tool decide what it may fetch.
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

// contentOf returns what a body is: its bytes or a stream of them, and its content type.
function contentOf (body) {
  if (body === undefined || body === null) return {}
  if (body instanceof ArrayBuffer) return { bytes: new Uint8Array(body.slice(0)) }
  if (ArrayBuffer.isView(body)) return { bytes: new Uint8Array(body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength)) }
  switch (Object.prototype.toString.call(body)) {
    case '[object Blob]': case '[object File]': return { bytes: require('internal/blob').bytesOf(body).slice(), type: body.type }
    case '[object FormData]': return require('internal/form').encode(body)
    case '[object ReadableStream]': return { stream: body }
    case '[object URLSearchParams]': return { bytes: new TextEncoder().encode(String(body)), type: 'application/x-www-form-urlencoded;charset=UTF-8' }
  }
  return { bytes: new TextEncoder().encode(String(body)), type: 'text/plain;charset=UTF-8' }
}

const used = () => new TypeError('Body is unusable: Body has already been read')

class Body {
  #bytes
  #text // of a body that is text: encoded when its bytes are needed
  #stream // made when it is asked for, or what the author gave
  #used = false
  constructor (body, headers) {
    if (body instanceof Arrived) {
      this.#text = body.text
      if (body.text === undefined) this.#bytes = new Uint8Array(Buffer.from(body.bytes, 'base64'))
      return
    }
    const { bytes, stream, type } = contentOf(body)
    this.#bytes = bytes
    this.#stream = stream
    if (type && !headers.has('content-type')) headers.set('content-type', type)
  }
  #encoded () {
    if (this.#bytes === undefined && this.#text !== undefined) this.#bytes = new TextEncoder().encode(this.#text)
    return this.#bytes
  }
  // copy returns a body that can be read as well as this one.
  static copy (b) {
    if (b.bodyUsed || b.#stream?.locked) throw used()
    if (b.#encoded() !== undefined || !b.#stream) return b.#bytes ?? null
    const [one, two] = b.#stream.tee()
    b.#stream = one
    return two
  }
  get bodyUsed () { return this.#used || (this.#stream !== undefined && require('internal/streams').disturbed(this.#stream)) }
  get body () {
    if (this.#stream === undefined && this.#encoded() !== undefined) {
      this.#stream = require('internal/streams').streamOf(this.#bytes)
      if (this.#used) this.#stream.cancel()
    }
    return this.#stream ?? null
  }
  #take () {
    if (this.bodyUsed || this.#stream?.locked) throw used()
    this.#used = this.#bytes !== undefined || this.#text !== undefined || this.#stream !== undefined
  }
  async bytes () {
    this.#take()
    if (this.#encoded() === undefined && this.#stream) return require('internal/streams').drain(this.#stream)
    return this.#bytes ?? new Uint8Array(0)
  }
  async arrayBuffer () { return (await this.bytes()).buffer }
  async text () {
    const bytes = this.#text === undefined ? await this.bytes() : this.#take()
    const s = this.#text ?? Buffer.from(bytes.buffer).toString()
    return s.replace(/^\ufeff/, '')
  }
  async json () { return JSON.parse(await this.text()) }
  async blob () { return new (require('internal/blob').Blob)([await this.bytes()], { type: this.headers.get('content-type') ?? '' }) }
  async formData () { return require('internal/form').decode(await this.bytes(), this.headers.get('content-type') ?? '') }
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
    const body = init.body ?? (from ? Body.copy(from) : null)
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
    return Object.assign(new Response(Body.copy(this), this), { url: this.url, redirected: this.redirected, type: this.type })
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
  const bytes = r.body && await r.bytes()
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
