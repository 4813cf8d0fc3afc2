// Modules that only Node.js has. A package may require one and never use it, so only its use is
// an error.
const known = new Set(['then', 'default', '__esModule', 'toJSON', 'constructor', 'prototype'])

// absent replaces a module of Node.js that does not exist here.
function absent (name) {
  const refuse = what => { throw Object.assign(new Error(`${what} is not available, because this tool does not run under Node.js; to use it, set runtime: 'node' in getMetadata`), { code: 'ERR_UNKNOWN_BUILTIN_MODULE' }) }
  const get = (_, member) => typeof member === 'symbol' || known.has(member) ? undefined : refuse(`${name}.${member}`)
  const inherited = new Proxy(Object.create(null), { get }) // import() copies own members, of which there are none, and the prototype
  return new Proxy({}, { get, getPrototypeOf: () => inherited })
}

// missing replaces a package that was not found. Its error says what to do. tool is the id of the tool if it declares
// the package.
function missing (name, tool) {
  const why = tool ? `it is declared but not installed; fetch it with flowrun tool deps ${tool}` : 'add it to getDependencies, and fetch it with flowrun tool deps'
  throw Object.assign(new Error(`Cannot find package '${name}': ${why}`), { code: 'MODULE_NOT_FOUND' })
}

// inert replaces any module while a tool is only described. It can be called, constructed and
// destructured without any effect.
function inert () {
  const it = new Proxy(function () {}, {
    get: (_, member) => {
      if (member === Symbol.toPrimitive) return () => ''
      if (member === Symbol.iterator) return function * () {}
      return member === 'then' || member === '__esModule' || typeof member === 'symbol' ? undefined : member === 'prototype' ? {} : it
    },
    apply: () => it,
    construct: () => it,
    set: () => true,
    has: () => true
  })
  return it
}

module.exports = { absent, missing, inert }
