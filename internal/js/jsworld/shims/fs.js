// The functions of fs and fs/promises that read. The permissions of a tool decide which files it
// may read. There are no functions that write.
const { Buffer } = require('buffer')
const { promisify } = require('util')

// failed adds to an error of a host call the fields that Node's errors have.
function failed (e, call, path) {
  const code = /^E[A-Z0-9]+(?=: )/.exec(e.message)?.[0]
  return code ? Object.assign(new Error(`${e.message}, ${call} '${path}'`), { code, syscall: call, path }) : e
}

const name = path => {
  if (Buffer.isBuffer(path)) path = path.toString()
  if (typeof path === 'object' && path !== null && typeof path.href === 'string') path = require('url').fileURLToPath(path)
  if (typeof path === 'string') return path
  throw Object.assign(new TypeError(`The "path" argument must be of type string or an instance of Buffer or URL. Received ${path === null ? 'null' : typeof path}`), { code: 'ERR_INVALID_ARG_TYPE' })
}
const encoding = options => typeof options === 'string' ? options : options?.encoding

class Stats {
  constructor (s) {
    Object.defineProperty(this, 'kind', { value: s.kind })
    Object.assign(this, { size: s.size, mode: s.mode, mtimeMs: s.mtimeMs, mtime: new Date(s.mtimeMs) })
  }
  isFile () { return this.kind === 'file' }
  isDirectory () { return this.kind === 'directory' }
  isSymbolicLink () { return this.kind === 'link' }
}

class Dirent {
  constructor (e, parentPath) {
    Object.defineProperty(this, 'kind', { value: e.kind })
    Object.assign(this, { name: e.name, parentPath, path: parentPath })
  }
}
for (const m of ['isFile', 'isDirectory', 'isSymbolicLink']) Dirent.prototype[m] = Stats.prototype[m]

// calls are the functions that read: the host call, Node's name for it, and how its answer is
// converted.
const calls = {
  readFile: ['open', (v, options) => {
    const wanted = encoding(options)
    if (v.text !== undefined && /^utf-?8$/i.test(wanted)) return v.text
    const b = v.text !== undefined ? Buffer.from(v.text) : Buffer.from(v.bytes, 'base64')
    return wanted ? b.toString(wanted) : b
  }],
  readdir: ['scandir', (list, options, path) => options?.withFileTypes ? list.map(e => new Dirent(e, path)) : list.map(e => e.name)],
  stat: ['stat', v => new Stats(v)],
  lstat: ['lstat', v => new Stats(v)],
  realpath: ['realpath', v => v],
  access: ['access', () => undefined]
}

const fs = { constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1 }, Stats, Dirent }
const promises = { constants: fs.constants }
for (const [call, [words, made]] of Object.entries(calls)) {
  const ask = call === 'access' ? 'fs.stat' : 'fs.' + call
  fs[call + 'Sync'] = (path, options) => {
    path = name(path)
    let v
    try { v = __askNow(ask, { path }) } catch (e) {
      if (options?.throwIfNoEntry === false && /^ENOENT: /.test(e.message)) return undefined
      throw failed(e, words, path)
    }
    return made(v, options, path)
  }
  promises[call] = async (path, options) => {
    path = name(path)
    let v
    try { v = await __ask(ask, { path }) } catch (e) { throw failed(e, words, path) }
    return made(v, options, path)
  }
  fs[call] = (path, ...rest) => {
    const done = rest.pop()
    promises[call](path, ...rest).then(v => done(null, v), done)
  }
}
fs.existsSync = path => {
  try { return fs.statSync(path) !== undefined } catch (e) {
    if (e.code) return false
    throw e // a missing permission is an error
  }
}
fs.exists = (path, done) => { fs.promises.stat(path).then(() => done(true), () => done(false)) }
fs.exists[promisify.custom] = path => fs.promises.stat(path).then(() => true, () => false)
fs.promises = promises

const only = (o, title) => new Proxy(o, {
  get: (_, member) => {
    if (member in o || typeof member === 'symbol' || ['then', 'default', '__esModule', 'toJSON'].includes(member)) return o[member]
    throw Object.assign(new Error(`${title}.${member} is not available: without Node.js, a tool can only read files; to use it, set runtime: 'node' in getMetadata`), { code: 'ERR_METHOD_NOT_IMPLEMENTED' })
  }
})
fs.promises = only(promises, 'fs.promises')
module.exports = only(fs, 'fs')
