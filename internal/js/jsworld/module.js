// Runs a .tool.js in its world: it loads the tool, then describes it (entry "describe") or runs
// it (entry "execute"), or cleans up after it was stopped (entry "cleanup"), or tries it with the mocks of its bridges
// (entry "mocks"), and returns one plain value. This is the body of an async function,
// after api.js. In scope are __load, __reword, __where, __askNow, __atEnd, entry and args.

const METHODS = ['getMetadata', 'getSchema', 'execute', 'getDependencies', 'getBusinessErrors',
  'init', 'validate', 'cleanup', 'getBridges', 'getMockArgs', 'getBridgeErrors']

const isObject = v => v !== null && typeof v === 'object' && !Array.isArray(v)
const has = (tool, method) => typeof tool[method] === 'function'

// kind returns the type of a value in words for people.
function kind (v) {
  if (v === null || v === undefined) return String(v)
  if (Array.isArray(v)) return 'a list'
  if (v instanceof RegExp) return 'a regular expression'
  return { string: 'text', number: 'a number', boolean: 'true or false', function: 'a function', object: 'an object' }[typeof v] || typeof v
}

// loaded returns the object whose methods are the tool: module.exports, the default export, or
// an instance of the class that either of them is.
function loaded () {
  let found = __load()
  if (found && !has(found, 'execute') && found.default) found = found.default
  if (typeof found === 'function' && !has(found, 'execute') && isConstructor(found)) found = new found() // eslint-disable-line new-cap
  if (typeof found === 'function' && METHODS.every(m => !(m in found))) throw new NoTool('the file must export a tool, but exports a function')
  if (!isObject(found) && typeof found !== 'function') throw new NoTool(`the file must export a tool, but exports ${kind(found)}`)
  if (isObject(found) && METHODS.every(m => !(m in found))) throw new NoTool('the file must export a tool, but exports an object without methods of a tool')
  return found
}

// isConstructor reports whether a function can be called with new, without calling it.
function isConstructor (f) {
  try {
    Reflect.construct(Object, [], f)
    return true
  } catch (_) {
    return false
  }
}

class NoTool extends Error {}

// inject sets the tool's api.
function inject (tool) {
  try {
    tool.api = api(args, tool)
  } catch (_) {
    throw new NoTool('cannot set this.api on the exported object: it is frozen, or has its own api')
  }
  return tool
}

// told describes a thrown value, which need not be an Error.
function told (thrown) {
  const e = { name: '', message: '', where: '' }
  try {
    __reword(thrown)
    if (isObject(thrown) || typeof thrown === 'function') {
      e.name = typeof thrown.name === 'string' ? thrown.name : ''
      e.message = typeof thrown.message === 'string' ? thrown.message : JSON.stringify(thrown)
    } else {
      e.message = Array.isArray(thrown) ? JSON.stringify(thrown) : String(thrown)
    }
    e.where = __where(thrown) || ''
  } catch (_) { // a getter or toJSON may throw too
    e.message = e.message || 'a value that cannot be shown'
  }
  return e
}

// ---- describe

// describe returns the description of a tool. A tool that runs under Node.js may use what only Node.js has at its top level
// too. It is then described with a process without environment.
async function describe () {
  const answer = await description()
  if (!answer.problems.some(p => /\b(process|__dirname|__filename) is not available/.test(p.message))) return answer
  Object.assign(globalThis, {
    process: { env: {}, argv: [], execArgv: [], platform: 'linux', arch: 'x64', version: 'v22.0.0', versions: { node: '22.0.0' }, cwd: () => '/', on () { return this } },
    __dirname: '/',
    __filename: '/' + args.tool.id + '.tool.js'
  })
  const again = await description()
  return again.metadata && again.metadata.runtime === 'node' ? again : answer
}

async function description () {
  const answer = { methods: [], problems: [] }
  const problem = (code, method, path, message, where) => { answer.problems.push({ code, method, path, message, where }) }
  let tool
  try {
    tool = inject(loaded())
  } catch (thrown) {
    const e = told(thrown)
    if (thrown instanceof NoTool) problem('no-tool', '', '', e.message, '')
    else problem('tool-threw', '', '', `reading the file threw ${words(e)}`, e.where)
    return answer
  }
  for (const m of METHODS) {
    if (has(tool, m)) answer.methods.push(m)
    else if (tool[m] !== undefined) problem('bad-answer', m, '', `${m} must be a function, but is ${kind(tool[m])}`, '')
  }
  // ask calls a method if the tool has it. wanted checks the type of its result, and read
  // converts it to JSON.
  const ask = async (method, wanted, read) => {
    if (!has(tool, method)) return
    try {
      const v = await tool[method]()
      if (v === undefined || v === null) return
      if (!wanted(v)) return problem('bad-answer', method, '', `${method} returned ${kind(v)}`, '')
      return read(v)
    } catch (thrown) {
      const e = told(thrown)
      problem('tool-threw', method, '', `${method} threw ${words(e)}`, e.where)
    }
  }
  const json = v => JSON.parse(JSON.stringify(v))
  answer.metadata = await ask('getMetadata', isObject, json)
  answer.schema = await ask('getSchema', isObject, json)
  answer.dependencies = await ask('getDependencies', v => typeof v === 'object', json)
  answer.errors = []
  for (const method of ['getBusinessErrors', 'getBridgeErrors']) {
    for (const { entry, path, name } of await ask(method, v => typeof v === 'object', errorEntries) || []) {
      const plain = businessError(entry, (key, message) => problem('bad-business-error', method, path + key, `${name} of ${method}: ${message}`, ''))
      if (plain) answer.errors.push(plain)
    }
  }
  answer.bridges = await ask('getBridges', isObject, v => {
    for (const op of Object.keys(v)) if (!isObject(v[op]) || !has(v[op], 'real')) problem('bad-answer', 'getBridges', op, `the bridge ${op} has no function named real`, '')
    return Object.keys(v)
  })
  return answer
}

const words = e => (e.name ? e.name + ': ' : '') + e.message

// errorEntries returns the entries that getBusinessErrors or getBridgeErrors returned, each with
// its path and with a name for people. Tools return a list, one entry, or an object of entries or
// lists of entries. The keys of that object are bridges, or the codes of entries without a code.
function errorEntries (answer) {
  const list = (entries, path, of, bridge) => entries.map((entry, i) => ({ entry, path: `${path}[${i}]`, name: `entry ${i + 1}${of}`, bridge }))
  if (Array.isArray(answer)) return list(answer, '', '')
  if (typeof answer.code === 'string' || matchOf(answer) !== undefined) return [{ entry: answer, path: '', name: 'the entry' }]
  return Object.entries(answer).flatMap(([key, v]) => {
    if (Array.isArray(v)) return list(v, key, ` under "${key}"`, key)
    const entry = isObject(v) && v.code === undefined ? { ...v, code: key } : v
    return [{ entry, path: key, name: `entry "${key}"`, bridge: key }]
  })
}

// matchOf returns what an entry compares errors with. identify is an older name for it.
const matchOf = entry => entry.match ?? entry.identify

// businessError checks one entry of getBusinessErrors and returns the part of it that is data.
function businessError (entry, wrong) {
  if (!isObject(entry)) return void wrong('', `expected an object, got ${kind(entry)}`)
  const text = (key, must) => {
    const v = entry[key]
    if (typeof v === 'string' && v !== '' || v === undefined && !must) return
    wrong('.' + key, v === undefined ? `has no ${key}` : `${key} must be text, but is ${kind(v)}`)
  }
  text('code', true)
  text('description', false)
  const m = matchOf(entry)
  if (!(m instanceof RegExp) && typeof m !== 'function' && (typeof m !== 'string' || m === '')) {
    wrong('.match', m === undefined ? 'has no match' : `match must be text, a regular expression or a function, but is ${m === '' ? 'empty' : kind(m)}`)
  }
  if (entry.retryable !== undefined && typeof entry.retryable !== 'boolean') wrong('.retryable', `retryable must be true or false, but is ${kind(entry.retryable)}`)
  return plainError(entry)
}

// plainError returns an entry without its match.
function plainError (entry) {
  const solution = entry.solution
  return {
    code: String(entry.code),
    description: typeof entry.description === 'string' ? entry.description : '',
    solution: solution === undefined || solution === null ? '' : typeof solution === 'string' ? solution : JSON.stringify(solution),
    retryable: entry.retryable === true
  }
}

// ---- execute

const warn = message => __askNow('log', { level: 'warn', message })

// setLargeNumbers replaces whole numbers that a Number cannot hold by BigInts.
function setLargeNumbers () {
  for (const { path, digits } of args.large || []) {
    const key = path.pop()
    path.reduce((v, k) => v[k], args.params)[key] = BigInt(digits)
  }
}

async function execute () {
  setLargeNumbers()
  const tool = inject(loaded())
  if (has(tool, 'cleanup')) __atEnd(() => cleanUp(tool), tool)
  try {
    if (has(tool, 'init')) await tool.init()
    const rejection = has(tool, 'validate') ? rejectionOf(await tool.validate(args.params)) : ''
    if (rejection) return { error: { name: '', message: rejection, where: '', rejected: true } }
    const value = await tool.execute(args.params)
    if (isObject(value) && value.success === false) return { value, error: await classified(tool, reported(value)) }
    return { value }
  } catch (thrown) {
    const e = told(thrown)
    e.thrown = thrown
    return { error: await classified(tool, e) }
  } finally {
    await cleanUp(tool)
  }
}

// rejectionOf returns the message for parameters that validate rejected with false or {valid: false},
// else "".
function rejectionOf (answer) {
  if (answer !== false && !(isObject(answer) && answer.valid === false)) return ''
  const errors = [answer.errors ?? answer.error ?? answer.message ?? []].flat()
  const texts = errors.map(e => isObject(e) && typeof e.message === 'string' ? e.message : typeof e === 'string' ? e : JSON.stringify(e))
  return 'parameter validation failed: ' + (texts.join(', ') || 'validate returned false')
}

// cleanUpStopped cleans up for a tool that was stopped in another world.
async function cleanUpStopped () {
  const tool = inject(loaded())
  for (const [name, value] of Object.entries(args.state || {})) {
    try { tool[name] = value } catch (_) {} // the member is read-only
  }
  await cleanUp(tool)
}

// cleanUp runs cleanup at most once, even if it is called several times.
let cleaned
const cleanUp = tool => (cleaned ??= tidied(tool))

// Time limit of a cleanup in milliseconds.
const CLEANUP = 1000

// tidied ignores errors of the cleanup, and does not wait for a cleanup that does not end, so
// that the result of the tool counts.
async function tidied (tool) {
  if (!has(tool, 'cleanup')) return
  __atEnd(null, null)
  let timer
  const late = new Promise((resolve, reject) => { timer = setTimeout(() => reject(new Error(`it did not end within ${CLEANUP / 1000} s`)), CLEANUP) })
  try {
    await Promise.race([tool.cleanup(), late])
  } catch (thrown) {
    __askNow('cleanupFailed', { message: `cleanup threw ${words(told(thrown))}` })
  } finally {
    clearTimeout(timer)
  }
}

// reported returns the failure that a tool reports by returning {success: false}. It can be
// retried unless the tool says otherwise, like a thrown error.
function reported (value) {
  const inner = isObject(value.error) ? value.error : {}
  const text = [value.message, inner.message, value.error].find(v => typeof v === 'string' && v !== '')
  const code = [inner.code, value.code].find(v => typeof v === 'string' && v !== '')
  const e = { name: '', message: text || 'the tool returned {success: false}', where: '', reported: true }
  const solution = inner.solution || inner.suggestion || value.solution || value.suggestion
  if (code || solution) e.business = plainError({ code: code || '', solution, retryable: (inner.retryable ?? value.retryable) !== false })
  return e
}

// classified adds to an error the first entry of getBusinessErrors that matches it.
async function classified (tool, e) {
  const thrown = 'thrown' in e ? e.thrown : new Error(e.message)
  delete e.thrown
  for (const method of ['getBusinessErrors', 'getBridgeErrors']) {
    try {
      const answer = has(tool, method) ? await tool[method]() : []
      for (const { entry, bridge } of errorEntries(answer ?? [])) {
        if (method === 'getBridgeErrors' && await ofOtherBridge(tool, bridge)) continue
        if (isObject(entry) && await matches(entry, thrown, e.message, tool)) {
          e.business = plainError(entry)
          return e
        }
      }
    } catch (again) {
      warn(`${method} threw ${words(told(again))}`)
    }
  }
  return e
}

// ofOtherBridge reports whether entries belong to a bridge that is not the one that failed last.
async function ofOtherBridge (tool, bridge) {
  const bridges = has(tool, 'getBridges') ? await tool.getBridges() : {}
  return Object.hasOwn(bridges, bridge) && bridge !== failedBridge
}

// matches reports whether an error matches one entry. If the match itself throws, the entry does
// not match, and the next entries are still checked.
async function matches (entry, thrown, message, tool) {
  const match = matchOf(entry)
  if (match instanceof RegExp) {
    match.lastIndex = 0 // with the flags g and y, a search would start where the last one ended
    return match.test(message)
  }
  if (typeof match !== 'function') return typeof match === 'string' && match !== '' && message.includes(match)
  try {
    return await match.call(tool, thrown, { tool: args.tool.id, params: args.params })
  } catch (again) {
    warn(`the match of ${String(entry.code)} threw ${words(told(again))}`)
  }
}

// ---- mocks

// mocks calls the bridges of a tool and then the tool itself, with the mocks of the bridges. It
// returns null for a tool without bridges.
async function mocks () {
  const tool = inject(loaded())
  if (!has(tool, 'getBridges')) return null
  mocking = true
  const bridges = []
  for (const name of Object.keys(await tool.getBridges() || {})) {
    const call = async () => tool.api.bridge.execute(name, (has(tool, 'getMockArgs') ? await tool.getMockArgs(name) : undefined) ?? {})
    bridges.push({ name, ...await outcome(call) })
  }
  const { value, error } = await execute()
  return { bridges, ...await outcome(() => value), ...(error && { error: words(error) }) }
}

// outcome returns the value of a function as data, or what it threw.
async function outcome (call) {
  try {
    const text = JSON.stringify(await call())
    return text === undefined ? {} : { value: JSON.parse(text) }
  } catch (thrown) {
    return { error: words(told(thrown)) }
  }
}

return { describe, execute, mocks, cleanup: cleanUpStopped }[entry]()
