// The querystring module of Node.js.
const escape = s => encodeURIComponent(s)
const unescape = s => {
  try { return decodeURIComponent(s) } catch (_) { return s }
}
const plain = v => typeof v === 'string' ? v : typeof v === 'number' && isFinite(v) || typeof v === 'bigint' || typeof v === 'boolean' ? String(v) : ''

function stringify (o, separator = '&', equals = '=', options) {
  if (o === null || typeof o !== 'object') return ''
  const encode = options?.encodeURIComponent || module.exports.escape
  return Object.keys(o).flatMap(k => (Array.isArray(o[k]) ? o[k] : [o[k]]).map(v => encode(k) + equals + encode(plain(v)))).join(separator)
}

function parse (s, separator = '&', equals = '=', options) {
  const out = Object.create(null)
  if (typeof s !== 'string' || s === '') return out
  const decode = options?.decodeURIComponent || module.exports.unescape
  const most = options?.maxKeys ?? 1000
  let parts = s.split(separator)
  if (most > 0) parts = parts.slice(0, most)
  for (const part of parts) {
    if (part === '') continue
    const at = part.indexOf(equals)
    const [k, v] = (at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + equals.length)]).map(x => decode(x.replace(/\+/g, ' ')))
    if (!(k in out)) out[k] = v
    else if (Array.isArray(out[k])) out[k].push(v)
    else out[k] = [out[k], v]
  }
  return out
}

module.exports = { stringify, encode: stringify, parse, decode: parse, escape, unescape }
