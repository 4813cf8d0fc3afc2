// Runs a tool with runtime: node under Node.js. It does what package hooks does in flowrun's own
// process: it loads the tool, runs flowrun's module.js on it, and passes on its host calls. It
// exchanges lines of JSON with flowrun over a socket.
'use strict'
const net = require('net')
const Module = require('module')
const path = require('path')
const { pathToFileURL, fileURLToPath } = require('url')
const { Worker, MessageChannel, receiveMessageOnPort } = require('worker_threads')

const door = JSON.parse(process.env.FLOWRUN_CALL)
delete process.env.FLOWRUN_CALL // the tool and its processes must not see it

// open connects and sends the token. heard is called with each message.
function open (door, heard, gone) {
  const socket = net.connect(door.at)
  socket.setNoDelay(true)
  let rest = ''
  socket.setEncoding('utf8')
  socket.on('data', text => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    for (const line of lines) heard(JSON.parse(line))
  })
  socket.on('close', gone)
  socket.on('error', gone)
  const say = (message, done) => socket.write(JSON.stringify(message) + '\n', done)
  say({ token: door.token })
  return say
}

function errorOf (e) {
  const made = new Error(e.message)
  if (e.name) made.name = e.name
  return made
}

// ---- host calls

const asked = new Map()
let last = 0
let say

function ask (op, args) {
  const id = ++last
  say({ id, op, args })
  return new Promise((resolve, reject) => asked.set(id, { resolve, reject }))
}

// askNow blocks until its answer arrives: a second thread receives it on its own connection
// while this thread waits.
let second
function askNow (op, args) {
  if (!second) {
    const { port1, port2 } = new MessageChannel()
    const bell = new SharedArrayBuffer(4)
    const worker = new Worker(`const { workerData: w } = require('worker_threads'); const net = require('net'); ${open}
      const say = open(w.door, answer => { w.port.postMessage(answer); ring() }, () => { w.port.postMessage({ error: { message: 'flowrun has ended' } }); ring() })
      const ring = () => { const b = new Int32Array(w.bell); Atomics.store(b, 0, 1); Atomics.notify(b, 0) }
      w.port.on('message', m => say({ id: 1, ...m }))`, { eval: true, workerData: { door, port: port2, bell }, transferList: [port2] })
    worker.unref()
    port1.unref()
    second = { port: port1, bell: new Int32Array(bell) }
  }
  Atomics.store(second.bell, 0, 0)
  second.port.postMessage({ op, args })
  Atomics.wait(second.bell, 0, 0)
  const { message } = receiveMessageOnPort(second.port)
  if (message.error) throw errorOf(message.error)
  return message.value
}

// ---- the tool

// Output of the tool is not its result, so it goes to the step's stderr.
function redirect () {
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = (chunk, encoding, done) => {
      if (typeof encoding === 'function') [encoding, done] = [undefined, encoding]
      say({ id: 0, op: 'print', args: { text: typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString() } })
      if (done) process.nextTick(done)
      return true
    }
  }
}

function load (call) {
  const m = new Module(call.file, null)
  m.filename = call.file
  m.paths = Module._nodeModulePaths(path.dirname(call.file))
  process.setSourceMapsEnabled(true)
  m._compile(call.code, call.file)
  const v = m.exports
  return v && v.__esModule && v.default !== undefined ? v.default : v
}

// place returns the position in a file of the author at which an error was thrown.
function place (e) {
  if (!e || typeof e.stack !== 'string') return ''
  for (const line of e.stack.split('\n')) {
    const found = line.match(/(?:^|[ (])((?:file:\/\/|[A-Za-z]:\\|\/)[^()]*):(\d+):(\d+)\)?$/)
    if (!found || found[1].includes('node_modules') || found[1] === __filename) continue
    const file = found[1].startsWith('file://') ? fileURLToPath(found[1]) : found[1]
    return `${file}:${found[2]}:${found[3]}`
  }
  return ''
}

function required (call) {
  const require = Module.createRequire(call.file)
  const get = (_, name) => async () => {
    try { return require(name) } catch (e) {
      if (e.code !== 'ERR_REQUIRE_ESM') throw e
      return import(pathToFileURL(require.resolve(name)).href)
    }
  }
  require.packages = new Proxy({}, { get, getOwnPropertyDescriptor: (_, name) => ({ value: get(_, name), configurable: true, enumerable: true }) })
  return require
}

// atEnd makes the tool clean up when it is stopped: TERM comes first, KILL after the grace
// period.
function atEnd (f) {
  if (f) process.once('SIGTERM', async () => {
    try { await f() } finally { process.exit(143) }
  })
}

async function work (call) {
  redirect()
  const AsyncFunction = async function () {}.constructor
  const glue = new AsyncFunction('entry', 'args', '__load', '__require', '__ask', '__askNow', '__where', '__reword', '__atEnd', call.glue)
  const value = await glue('execute', call.args, () => load(call), required(call), ask, askNow, place, () => {}, atEnd)
  say({ result: value === undefined ? null : value }, () => process.exit(0))
}

say = open(door, message => {
  if (message.call) {
    work(message.call).catch(e => {
      say({ failed: { name: e && e.name, message: String(e && e.message), where: place(e) } }, () => process.exit(1))
    })
    return
  }
  const waiting = asked.get(message.id)
  asked.delete(message.id)
  if (waiting && message.error) waiting.reject(errorOf(message.error))
  else if (waiting) waiting.resolve(message.value === undefined ? null : message.value)
}, () => process.exit(1))
