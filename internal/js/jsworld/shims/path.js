// The path module of Node.js on Unix. Tools behave the same on every system, so path is
// path.posix, and there is no path.win32.
const text = (v, name) => {
  if (typeof v !== 'string') throw Object.assign(new TypeError(`The "${name}" argument must be of type string. Received ${v === null ? 'null' : typeof v}`), { code: 'ERR_INVALID_ARG_TYPE' })
  return v
}

function normalize (path) {
  text(path, 'path')
  const absolute = path.startsWith('/')
  const parts = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.length > 0 && parts[parts.length - 1] !== '..') parts.pop()
    else if (!absolute) parts.push('..')
  }
  let out = parts.join('/')
  if (out === '' && !absolute) return path.endsWith('/') ? './' : '.'
  if (out !== '' && path.endsWith('/')) out += '/'
  return absolute ? '/' + out : out
}

function join (...paths) {
  const all = paths.filter(p => text(p, 'path') !== '').join('/')
  return all === '' ? '.' : normalize(all)
}

// resolve starts at the root, because a tool has no working directory.
function resolve (...paths) {
  let all = ''
  for (let i = paths.length - 1; i >= 0 && !all.startsWith('/'); i--) {
    if (text(paths[i], `paths[${i}]`) !== '') all = all === '' ? paths[i] : paths[i] + '/' + all
  }
  const out = normalize('/' + all)
  return out.length > 1 && out.endsWith('/') ? out.slice(0, -1) : out
}

const trimmed = path => path.length > 1 ? path.replace(/\/+$/, '') || '/' : path

function dirname (path) {
  const t = trimmed(text(path, 'path'))
  if (t === '/') return '/'
  const at = t.lastIndexOf('/')
  if (at < 0) return '.'
  return at === 0 ? '/' : at === 1 && t[0] === '/' ? '//' : t.slice(0, at)
}

function basename (path, suffix) {
  const t = text(path, 'path').replace(/\/+$/, '')
  const base = t.slice(t.lastIndexOf('/') + 1)
  return suffix !== undefined && base.endsWith(text(suffix, 'suffix')) ? base.slice(0, base.length - suffix.length) : base
}

function extname (path) {
  const base = basename(path)
  const at = base.lastIndexOf('.')
  return at <= 0 || base === '..' ? '' : base.slice(at)
}

function relative (from, to) {
  const a = resolve(from).split('/').filter(Boolean)
  const b = resolve(to).split('/').filter(Boolean)
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  return [...a.slice(same).map(() => '..'), ...b.slice(same)].join('/')
}

function parse (path) {
  const base = basename(path)
  const ext = extname(base)
  const root = path.startsWith('/') ? '/' : ''
  const t = trimmed(path)
  const at = t.lastIndexOf('/')
  return { root, dir: at < 0 ? '' : at === 0 ? '/' : t.slice(0, at), base, ext, name: ext === '' ? base : base.slice(0, -ext.length) }
}

function format (o) {
  const dir = o.dir || o.root
  const base = o.base || (o.name || '') + (o.ext ? (o.ext.startsWith('.') ? '' : '.') + o.ext : '')
  if (!dir) return base
  return dir === o.root ? dir + base : dir + '/' + base
}

module.exports = { normalize, join, resolve, dirname, basename, extname, relative, parse, format, isAbsolute: path => text(path, 'path').startsWith('/'), toNamespacedPath: path => path, sep: '/', delimiter: ':' }
module.exports.posix = module.exports
