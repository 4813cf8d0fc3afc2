// The url module of Node.js: URL and URLSearchParams as in the WHATWG standard, and the older
// functions parse, format and resolve for texts that are URLs there too.

const ports = { 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' }
const special = scheme => Object.hasOwn(ports, scheme)
const invalid = input => Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL', input })

// The characters that are written as %XX, besides controls and all characters outside of ASCII.
const inFragment = ' "<>`'
const inQuery = ' "#<>'
const inSpecialQuery = inQuery + "'"
const inPath = inQuery + '?^`{}'
const inUser = inPath + '/:;=@[\\]|'

const hex = b => '%' + b.toString(16).toUpperCase().padStart(2, '0')
function encode (s, set) {
  let out = ''
  for (const c of s) {
    const n = c.codePointAt(0)
    if (n > 0x7e) out += encodeURIComponent(n >= 0xd800 && n < 0xe000 ? '\ufffd' : c)
    else out += n < 0x20 || set.includes(c) ? hex(n) : c
  }
  return out
}

const bytesOf = s => require('buffer').Buffer.from(s)
function decode (s) {
  if (!s.includes('%')) return s
  const bytes = bytesOf(s)
  const out = []
  for (let i = 0; i < bytes.length; i++) {
    const two = bytes[i] === 37 ? String.fromCharCode(bytes[i + 1], bytes[i + 2]) : ''
    if (/^[0-9a-f]{2}$/i.test(two)) {
      out.push(parseInt(two, 16))
      i += 2
    } else out.push(bytes[i])
  }
  return require('buffer').Buffer.from(out).toString()
}

// punycode encodes one label of a host in ASCII (RFC 3492).
function punycode (label) {
  const points = Array.from(label, c => c.codePointAt(0))
  const basic = points.filter(p => p < 128)
  let out = String.fromCodePoint(...basic) + (basic.length > 0 ? '-' : '')
  const digit = d => String.fromCharCode(d < 26 ? 97 + d : 22 + d)
  let n = 128
  let delta = 0
  let bias = 72
  for (let handled = basic.length; handled < points.length;) {
    const next = Math.min(...points.filter(p => p >= n))
    delta += (next - n) * (handled + 1)
    n = next
    for (const p of points) {
      if (p < n) delta++
      if (p !== n) continue
      let q = delta
      for (let k = 36; ; k += 36) {
        const t = Math.min(Math.max(k - bias, 1), 26)
        if (q < t) break
        out += digit(t + (q - t) % (36 - t))
        q = Math.floor((q - t) / (36 - t))
      }
      out += digit(q)
      delta = handled === basic.length ? Math.floor(delta / 700) : delta >> 1
      delta += Math.floor(delta / (handled + 1))
      let k = 0
      for (; delta > 455; k += 36) delta = Math.floor(delta / 35)
      bias = k + Math.floor(36 * delta / (delta + 38))
      delta = 0
      handled++
    }
    delta++
    n++
  }
  return 'xn--' + out
}

// ipv4 parses the forms that people and browsers write: 127.1, 0x7f000001, 017700000001.
function ipv4 (host) {
  const parts = host.split('.')
  if (parts[parts.length - 1] === '' && parts.length > 1) parts.pop()
  const last = parts[parts.length - 1]
  if (!/^\d+$/.test(last) && !/^0x[0-9a-f]*$/i.test(last)) return null
  if (parts.length > 4) throw invalid(host)
  const numbers = parts.map(p => {
    if (p === '') throw invalid(host)
    const n = /^0x[0-9a-f]*$/i.test(p) ? (p.length === 2 ? 0 : parseInt(p, 16)) : /^0[0-7]*$/.test(p) ? parseInt(p, 8) : /^[1-9]\d*$/.test(p) ? parseInt(p, 10) : NaN
    if (Number.isNaN(n)) throw invalid(host)
    return n
  })
  const end = numbers.pop()
  if (numbers.some(n => n > 255) || end >= 256 ** (4 - numbers.length)) throw invalid(host)
  const all = numbers.reduce((v, n, i) => v + n * 256 ** (3 - i), end)
  return [24, 16, 8, 0].map(shift => Math.floor(all / 2 ** shift) % 256).join('.')
}

function ipv6 (text) {
  const fail = () => { throw invalid(text) }
  let s = text
  const dotted = s.match(/^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/)
  if (dotted) {
    const n = dotted.slice(2).map(x => x.length > 1 && x[0] === '0' || +x > 255 ? fail() : +x)
    s = `${dotted[1]}${(n[0] << 8 | n[1]).toString(16)}:${(n[2] << 8 | n[3]).toString(16)}`
  }
  const halves = s.split('::')
  if (halves.length > 2) fail()
  const pieces = h => h === '' ? [] : h.split(':').map(p => /^[0-9a-f]{1,4}$/i.test(p) ? parseInt(p, 16) : fail())
  let all = pieces(halves[0])
  if (halves.length === 2) {
    const tail = pieces(halves[1])
    if (all.length + tail.length > 7) fail()
    all = [...all, ...new Array(8 - all.length - tail.length).fill(0), ...tail]
  }
  if (all.length !== 8) fail()
  let best = { at: -1, n: 1 }
  for (let i = 0; i < 8; i++) {
    let n = 0
    while (i + n < 8 && all[i + n] === 0) n++
    if (n > best.n) best = { at: i, n }
    i += n
  }
  const words = all.map(n => n.toString(16))
  return best.at < 0 ? words.join(':') : `${words.slice(0, best.at).join(':')}::${words.slice(best.at + best.n).join(':')}`
}

function hostOf (text, isSpecial) {
  if (text.startsWith('[')) {
    if (!text.endsWith(']')) throw invalid(text)
    return `[${ipv6(text.slice(1, -1))}]`
  }
  if (!isSpecial) {
    if (/[\0\t\n\r #/:<>?@[\\\]^|]/.test(text)) throw invalid(text)
    return encode(text, '')
  }
  let host = decode(text).normalize('NFKC').toLowerCase().replace(/\u00ad/g, '').replace(/[\u3002\uff0e\uff61]/g, '.')
  if (/[^\0-\x7f]/.test(host)) host = host.split('.').map(l => /[^\0-\x7f]/.test(l) ? punycode(l) : l).join('.')
  if (host === '' || /[\0-\x20"#%/:<>?@[\\\]^`{|}\x7f]/.test(host)) throw invalid(text)
  return ipv4(host) ?? host
}

const isDrive = s => /^[a-z][:|]$/i.test(s)
const dot = s => /^(\.|%2e)$/i.test(s)
const dots = s => /^(\.|%2e){2}$/i.test(s)

// pathOf returns the parts of a path relative to base.
function pathOf (text, scheme, base) {
  const parts = [...base]
  const list = text.split(special(scheme) ? /[/\\]/ : '/')
  list.forEach((part, i) => {
    const last = i === list.length - 1
    if (dots(part)) {
      if (!(scheme === 'file:' && parts.length === 1 && isDrive(parts[0]))) parts.pop()
      if (last) parts.push('')
    } else if (dot(part)) {
      if (last) parts.push('')
    } else if (scheme === 'file:' && parts.length === 0 && isDrive(part)) parts.push(part[0] + ':')
    else parts.push(encode(part, inPath))
  })
  return parts
}

// parsed returns a record of the URL's parts. path is text if the URL has no hierarchical path.
function parsed (input, base) {
  let s = input.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '')
  const u = { scheme: '', user: '', password: '', host: null, port: '', path: [], query: null, fragment: null }
  const cut = mark => {
    const at = s.indexOf(mark)
    if (at < 0) return null
    const rest = s.slice(at + 1)
    s = s.slice(0, at)
    return rest
  }
  const fragment = cut('#')
  if (fragment !== null) u.fragment = encode(fragment, inFragment)
  const scheme = s.match(/^([a-z][a-z0-9+.-]*):/i)
  if (scheme) {
    u.scheme = scheme[1].toLowerCase() + ':'
    s = s.slice(scheme[0].length)
  } else {
    if (!base || typeof base.path === 'string' && (s !== '' || fragment === null)) throw invalid(input)
    u.scheme = base.scheme
  }
  const query = cut('?')
  if (query !== null) u.query = encode(query, special(u.scheme) ? inSpecialQuery : inQuery)
  const relative = base && base.scheme === u.scheme && (!scheme || special(u.scheme) && !/^[/\\]/.test(s)) && typeof base.path !== 'string'
  const slashes = special(u.scheme) ? /^[/\\]{2}/ : /^\/\//
  if (scheme && special(u.scheme) && u.scheme !== 'file:' && !relative) s = '//' + s.replace(/^[/\\]*/, '')
  if (slashes.test(s)) {
    const rest = s.slice(2)
    const end = rest.search(special(u.scheme) ? /[/\\]/ : /\//)
    const authority = end < 0 ? rest : rest.slice(0, end)
    s = end < 0 ? '' : rest.slice(end)
    if (u.scheme === 'file:' && isDrive(authority)) {
      s = '/' + authority + s
      u.host = ''
    } else authorityOf(u, authority, input)
  } else if (relative || !scheme && base) {
    Object.assign(u, { user: base.user, password: base.password, host: base.host, port: base.port })
    if (typeof base.path === 'string') return { ...u, path: base.path, query: base.query }
    if (s === '') return { ...u, path: base.path, query: query === null ? base.query : u.query }
    const rooted = /^\//.test(s) || special(u.scheme) && /^\\/.test(s)
    const under = rooted ? (u.scheme === 'file:' && base.path.length > 0 && isDrive(base.path[0]) && !isDrive(s.slice(1).split(/[/\\]/)[0]) ? [base.path[0]] : []) : base.path.slice(0, -1)
    return { ...u, path: pathOf(rooted ? s.slice(1) : s, u.scheme, under) }
  } else if (u.scheme === 'file:') u.host = ''
  else if (!s.startsWith('/')) return { ...u, path: encode(s, '') }
  if (s !== '' || special(u.scheme)) u.path = pathOf(s.replace(special(u.scheme) ? /^[/\\]/ : /^\//, ''), u.scheme, [])
  return u
}

function authorityOf (u, authority, input) {
  const at = authority.lastIndexOf('@')
  if (at >= 0) {
    const [, user, password] = authority.slice(0, at).match(/^([^:]*):?(.*)$/s)
    u.user = encode(user, inUser)
    u.password = encode(password, inUser)
  }
  const [, host, port] = authority.slice(at + 1).match(/^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s) || [null, '[', '']
  if (host === '' && (u.scheme !== 'file:' && special(u.scheme) || at >= 0 || port)) throw invalid(input)
  if (port) {
    if (!/^\d+$/.test(port) || +port > 65535 || u.scheme === 'file:') throw invalid(input)
    u.port = String(+port) === ports[u.scheme] ? '' : String(+port)
  }
  try {
    u.host = host === '' ? '' : hostOf(host, special(u.scheme))
  } catch (e) {
    throw invalid(input)
  }
  if (u.scheme === 'file:' && u.host === 'localhost') u.host = ''
}

const pathText = u => typeof u.path === 'string' ? u.path : u.path.map(p => '/' + p).join('')
const login = u => u.user === '' && u.password === '' ? '' : u.user + (u.password === '' ? '' : ':' + u.password) + '@'
const place = u => u.host === null ? '' : u.host + (u.port === '' ? '' : ':' + u.port)

function written (u) {
  const path = pathText(u)
  const front = u.host !== null ? '//' + login(u) + place(u) : path.startsWith('//') ? '/.' : ''
  return u.scheme + front + path + (u.query === null ? '' : '?' + u.query) + (u.fragment === null ? '' : '#' + u.fragment)
}

const formSafe = /[A-Za-z0-9*._-]/
const formText = s => Array.from(bytesOf(s), b => b === 32 ? '+' : formSafe.test(String.fromCharCode(b)) ? String.fromCharCode(b) : hex(b)).join('')

const plain = v => String(v).replace(/[\t\n\r]/g, '') // a URL has no tabs and no line ends

class URLSearchParams {
  #list = []
  #url = null
  constructor (init = '', url) {
    if (url instanceof URL) this.#url = url
    if (typeof init === 'object' && init !== null || typeof init === 'function') {
      if (typeof init[Symbol.iterator] === 'function') {
        for (const pair of init) {
          const [...two] = pair
          if (two.length !== 2) throw Object.assign(new TypeError('Each query pair must be an iterable [name, value] tuple'), { code: 'ERR_INVALID_TUPLE' })
          this.#list.push(two.map(String))
        }
      } else for (const k of Object.keys(init)) this.#list.push([k, String(init[k])])
    } else {
      const word = s => decode(s.replace(/\+/g, ' '))
      for (const part of String(init).replace(/^\?/, '').split('&')) {
        if (part === '') continue
        const at = part.indexOf('=')
        this.#list.push(at < 0 ? [word(part), ''] : [word(part.slice(0, at)), word(part.slice(at + 1))])
      }
    }
  }
  #changed () {
    if (this.#url) this.#url.search = this.toString()
  }
  append (k, v) { this.#list.push([String(k), String(v)]); this.#changed() }
  delete (k, v) { this.#list = this.#list.filter(e => e[0] !== String(k) || v !== undefined && e[1] !== String(v)); this.#changed() }
  get (k) { return this.#list.find(e => e[0] === String(k))?.[1] ?? null }
  getAll (k) { return this.#list.filter(e => e[0] === String(k)).map(e => e[1]) }
  has (k, v) { return this.#list.some(e => e[0] === String(k) && (v === undefined || e[1] === String(v))) }
  set (k, v) {
    const first = this.#list.find(e => e[0] === String(k))
    if (first) first[1] = String(v)
    else this.#list.push([String(k), String(v)])
    this.#list = this.#list.filter(e => e[0] !== String(k) || e === (first || e))
    this.#changed()
  }
  sort () { this.#list.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0); this.#changed() }
  forEach (f, self) { for (const [k, v] of this.#list) f.call(self, v, k, this) }
  * entries () { for (const e of this.#list) yield [...e] }
  * keys () { for (const e of this.#list) yield e[0] }
  * values () { for (const e of this.#list) yield e[1] }
  [Symbol.iterator] () { return this.entries() }
  get size () { return this.#list.length }
  toString () { return this.#list.map(([k, v]) => formText(k) + '=' + formText(v)).join('&') }
  get [Symbol.toStringTag] () { return 'URLSearchParams' }
}

class URL {
  #u
  #params = null
  constructor (input, base) {
    this.#u = parsed(String(input), base === undefined ? undefined : parsed(String(base)))
  }
  static canParse (input, base) { return URL.parse(input, base) !== null }
  static parse (input, base) {
    try { return new URL(input, base) } catch (_) { return null }
  }
  get href () { return written(this.#u) }
  set href (v) { this.#u = parsed(String(v)); this.#params = null }
  get origin () { return special(this.#u.scheme) && this.#u.scheme !== 'file:' ? `${this.#u.scheme}//${place(this.#u)}` : 'null' }
  get protocol () { return this.#u.scheme }
  set protocol (v) {
    const scheme = String(v).replace(/:.*$/s, '').toLowerCase() + ':'
    if (/^[a-z][a-z0-9+.-]*:$/.test(scheme) && special(scheme) === special(this.#u.scheme)) {
      this.#u.scheme = scheme
      if (this.#u.port === ports[scheme]) this.#u.port = ''
    }
  }
  get username () { return this.#u.user }
  set username (v) { if (this.#u.host) this.#u.user = encode(String(v), inUser) }
  get password () { return this.#u.password }
  set password (v) { if (this.#u.host) this.#u.password = encode(String(v), inUser) }
  get host () { return place(this.#u) }
  set host (v) { this.#change(u => { [u.user, u.password] = ['', '']; authorityOf(u, plain(v).split(/[/\\?#@]/)[0], v) }, ['host', 'port'], v) }
  get hostname () { return this.#u.host ?? '' }
  set hostname (v) { this.#change(u => { u.host = hostOf(plain(v).split(/[/\\?#]/)[0], special(u.scheme)) }, ['host'], v) }
  #change (f, keys, v) {
    if (typeof this.#u.path === 'string' || String(v) === '') return
    const u = { ...this.#u }
    try { f(u) } catch (_) { return } // as in the standard: an invalid host changes nothing
    for (const k of keys) if (k !== 'port' || /:\d/.test(v)) this.#u[k] = u[k]
  }
  get port () { return this.#u.port }
  set port (v) {
    const digits = String(v).match(/^\d*/)[0]
    if (!this.#u.host || this.#u.scheme === 'file:' || digits === '' && String(v) !== '' || +digits > 65535) return
    this.#u.port = digits === '' || String(+digits) === ports[this.#u.scheme] ? '' : String(+digits)
  }
  get pathname () { return pathText(this.#u) }
  set pathname (v) {
    if (typeof this.#u.path !== 'string') this.#u.path = pathOf(plain(v).replace(/[?#]/g, c => hex(c.charCodeAt(0))).replace(special(this.#u.scheme) ? /^[/\\]/ : /^\//, ''), this.#u.scheme, [])
  }
  get search () { return this.#u.query ? '?' + this.#u.query : '' }
  set search (v) {
    this.#u.query = `${v}` === '' ? null : encode(plain(v).replace(/^\?/, '').replace(/#/g, '%23'), special(this.#u.scheme) ? inSpecialQuery : inQuery)
    this.#params = null
  }
  get searchParams () {
    this.#params = this.#params ?? new URLSearchParams(this.#u.query ?? '', this)
    return this.#params
  }
  get hash () { return this.#u.fragment ? '#' + this.#u.fragment : '' }
  set hash (v) { this.#u.fragment = `${v}` === '' ? null : encode(plain(v).replace(/^#/, ''), inFragment) }
  toString () { return this.href }
  toJSON () { return this.href }
  get [Symbol.toStringTag] () { return 'URL' }
}

const unix = path => '/' + path.split('/').filter(Boolean).map(p => encode(p, inPath + '%\\')).join('/')

function parse (text, withQuery) {
  const o = { protocol: null, slashes: null, auth: null, host: null, port: null, hostname: null, hash: null, search: null, query: null, pathname: null, path: null, href: text }
  const u = URL.parse(text)
  if (u) {
    const auth = decode(u.username) + (u.password ? ':' + decode(u.password) : '')
    Object.assign(o, { protocol: u.protocol, slashes: /^[a-z+.-]+:\/\//i.test(text) || null, auth: auth || null, host: u.host || null, port: u.port || null, hostname: u.hostname.replace(/^\[|\]$/g, '') || null, hash: u.hash || null, search: u.search || null, pathname: u.pathname || null, href: u.href })
  } else {
    const [, pathname, search, hash] = text.match(/^([^?#]*)(\?[^#]*)?(#.*)?$/s)
    Object.assign(o, { pathname: pathname || null, search: search || null, hash: hash || null })
  }
  o.query = withQuery ? require('querystring').parse(o.search?.slice(1) || '') : o.search?.slice(1) ?? null
  o.path = o.pathname === null && o.search === null ? null : (o.pathname || '') + (o.search || '')
  return o
}

function format (o) {
  if (o instanceof URL) return o.href
  if (typeof o === 'string') return parse(o).href
  const query = o.query && typeof o.query === 'object' ? require('querystring').stringify(o.query) : ''
  const search = o.search || (query && '?' + query) || ''
  const protocol = o.protocol ? o.protocol.replace(/:?$/, ':') : ''
  const host = o.host || (o.hostname ? (o.hostname.includes(':') ? `[${o.hostname}]` : o.hostname) + (o.port ? ':' + o.port : '') : '')
  const slashes = o.slashes || special(protocol) || host !== '' ? '//' : ''
  const path = o.pathname || ''
  return protocol + (host || slashes && protocol ? slashes + (o.auth ? encodeURIComponent(o.auth).replace(/%3A/gi, ':') + '@' : '') + host : '') + (host && path && path[0] !== '/' ? '/' : '') + path.replace(/[?#]/g, encodeURIComponent) + (search && search[0] !== '?' ? '?' : '') + search.replace(/#/g, '%23') + (o.hash ? (o.hash[0] === '#' ? '' : '#') + o.hash : '')
}

function resolve (from, to) {
  const u = URL.parse(to, URL.parse(from) ? from : 'resolve://' + (from.startsWith('/') ? '' : '/') + from)
  if (!u) return to
  return u.protocol === 'resolve:' ? (from.startsWith('/') || to.startsWith('/') ? '' : '').concat(from.startsWith('/') || to.startsWith('/') ? u.pathname : u.pathname.slice(1), u.search, u.hash) : u.href
}

module.exports = {
  URL,
  URLSearchParams,
  parse,
  format,
  resolve,
  pathToFileURL: path => new URL('file://' + unix(path)),
  fileURLToPath: url => decode(new URL(url).pathname),
  domainToASCII: host => { try { return hostOf(host, true) } catch (_) { return '' } },
  urlToHttpOptions: u => ({ protocol: u.protocol, hostname: u.hostname, hash: u.hash, search: u.search, pathname: u.pathname, path: u.pathname + u.search, href: u.href, ...(u.port ? { port: +u.port } : {}), ...(u.username ? { auth: decode(u.username) + ':' + decode(u.password) } : {}) })
}
