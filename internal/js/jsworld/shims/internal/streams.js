// ReadableStream, WritableStream, TransformStream and the streams of text, as in browsers and
// Node.js. There are no byte streams and no priorities: a chunk is any value.

// asyncIterator is the symbol that bundles use too, because the language here does not have it.
const asyncIterator = Symbol.asyncIterator ?? Symbol.for('Symbol.asyncIterator')

const deferred = () => {
  const d = {}
  d.promise = new Promise((resolve, reject) => Object.assign(d, { resolve, reject }))
  d.promise.catch(() => {}) // nobody must wait for it
  return d
}
const strategy = (s, most) => ({ most: s?.highWaterMark ?? most, size: s?.size ?? (() => 1) })

// internals of a stream: they are reached by the readers, writers and pipes in this file alone.
const inside = new WeakMap()

class ReadableStream {
  constructor (source = {}, options) {
    const { most, size } = strategy(options, 1)
    const s = { queue: [], total: 0, most, size, state: 'readable', error: undefined, closing: false, waiting: [], reader: null, disturbed: false, source, busy: false, again: false, started: false, ended: deferred() }
    inside.set(this, s)
    s.controller = controllerOf(s)
    const begun = source.start?.(s.controller)
    Promise.resolve(begun).then(() => {
      s.started = true
      pull(s)
    }, e => fail(s, e))
  }
  static from (values) {
    const it = values[asyncIterator]?.() ?? values[Symbol.iterator]()
    return new ReadableStream({
      async pull (c) {
        const { done, value } = await it.next()
        if (done) c.close()
        else c.enqueue(await value)
      },
      cancel: reason => it.return?.(reason)
    }, { highWaterMark: 0 })
  }
  get locked () { return inside.get(this).reader !== null }
  getReader () { return new ReadableStreamDefaultReader(this) }
  async cancel (reason) {
    if (this.locked) throw invalid('ReadableStream is locked')
    return cancel(inside.get(this), reason)
  }
  tee () {
    const reader = this.getReader()
    const branches = []
    let going = false
    const pullBoth = async () => {
      if (going) return
      going = true
      try {
        const { done, value } = await reader.read()
        for (const c of branches) done ? c.close() : c.enqueue(value)
      } catch (e) {
        for (const c of branches) c.error(e)
      }
      going = false
    }
    return [0, 1].map(() => new ReadableStream({ start (c) { branches.push(c) }, pull: pullBoth }))
  }
  async pipeTo (target, { preventClose, preventAbort, preventCancel, signal } = {}) {
    const reader = this.getReader()
    const writer = target.getWriter()
    const stopped = () => { reader.cancel(signal.reason).catch(() => {}); writer.abort(signal.reason).catch(() => {}) }
    signal?.addEventListener('abort', stopped)
    try {
      for (;;) {
        signal?.throwIfAborted()
        let next
        try {
          next = await reader.read()
        } catch (e) {
          if (!preventAbort) await writer.abort(e)
          throw e
        }
        if (next.done) break
        try {
          await writer.write(next.value)
        } catch (e) {
          if (!preventCancel) await reader.cancel(e)
          throw e
        }
      }
      signal?.throwIfAborted()
      if (!preventClose) await writer.close()
    } finally {
      signal?.removeEventListener('abort', stopped)
      reader.releaseLock()
      writer.releaseLock()
    }
  }
  pipeThrough ({ readable, writable }, options) {
    this.pipeTo(writable, options).catch(() => {}) // readable reports it
    return readable
  }
  values ({ preventCancel } = {}) {
    const reader = this.getReader()
    return {
      async next () {
        const got = await reader.read()
        if (got.done) reader.releaseLock()
        return got
      },
      async return (value) {
        if (!preventCancel) await reader.cancel(value)
        reader.releaseLock()
        return { value, done: true }
      },
      [asyncIterator] () { return this }
    }
  }
  [asyncIterator] (options) { return this.values(options) }
  get [Symbol.toStringTag] () { return 'ReadableStream' }
}

const invalid = message => Object.assign(new TypeError(`Invalid state: ${message}`), { code: 'ERR_INVALID_STATE' })

const controllerOf = s => ({
  get desiredSize () { return s.state === 'errored' ? null : s.state === 'closed' ? 0 : s.most - s.total },
  enqueue (chunk) {
    if (s.closing || s.state !== 'readable') throw invalid('Controller is already closed')
    if (s.waiting.length > 0) s.waiting.shift().resolve({ value: chunk, done: false })
    else {
      const size = s.size(chunk)
      s.queue.push({ chunk, size })
      s.total += size
    }
    pull(s)
  },
  close () {
    if (s.closing || s.state !== 'readable') throw invalid('Controller is already closed')
    s.closing = true
    if (s.queue.length === 0) end(s)
  },
  error (e) { fail(s, e) }
})

// pull asks the source for another chunk if there is room for one, or a reader waits for one.
function pull (s) {
  if (!s.started || s.closing || s.state !== 'readable' || !s.source.pull || s.waiting.length === 0 && s.total >= s.most) return
  if (s.busy) {
    s.again = true
    return
  }
  s.busy = true
  const pulled = new Promise(resolve => resolve(s.source.pull(s.controller)))
  pulled.then(() => {
    s.busy = false
    if (s.again) {
      s.again = false
      pull(s)
    }
  }, e => fail(s, e))
}

function end (s) {
  s.state = 'closed'
  for (const w of s.waiting.splice(0)) w.resolve({ value: undefined, done: true })
  s.ended.resolve()
}

function fail (s, e) {
  if (s.state !== 'readable') return
  s.state = 'errored'
  s.error = e
  s.queue = []
  s.total = 0
  for (const w of s.waiting.splice(0)) w.reject(e)
  s.ended.reject(e)
}

async function cancel (s, reason) {
  s.disturbed = true
  if (s.state === 'errored') throw s.error
  if (s.state === 'closed') return
  s.queue = []
  s.total = 0
  end(s)
  await s.source.cancel?.(reason)
}

async function read (s) {
  s.disturbed = true
  if (s.queue.length > 0) {
    const { chunk, size } = s.queue.shift()
    s.total -= size
    if (s.closing && s.queue.length === 0) end(s)
    else pull(s)
    return { value: chunk, done: false }
  }
  if (s.state === 'errored') throw s.error
  if (s.state === 'closed') return { value: undefined, done: true }
  const d = deferred()
  s.waiting.push(d)
  pull(s)
  return d.promise
}

class ReadableStreamDefaultReader {
  #of
  constructor (stream) {
    if (stream.locked) throw invalid('ReadableStream is locked')
    this.#of = inside.get(stream)
    this.#of.reader = this
    this.closed = this.#of.ended.promise
  }
  async read () {
    if (!this.#of) throw invalid('The reader is not attached to a stream')
    return read(this.#of)
  }
  async cancel (reason) {
    if (!this.#of) throw invalid('The reader is not attached to a stream')
    return cancel(this.#of, reason)
  }
  releaseLock () {
    if (!this.#of) return
    this.#of.reader = null
    for (const w of this.#of.waiting.splice(0)) w.reject(invalid('Releasing reader'))
    this.#of = null
  }
}

class WritableStream {
  constructor (sink = {}, options) {
    const { most, size } = strategy(options, 1)
    const s = { sink, most, size, total: 0, state: 'writable', error: undefined, writer: null, last: null, ended: deferred() }
    inside.set(this, s)
    s.controller = { error: e => spoil(s, e), signal: new AbortController().signal }
    s.last = new Promise(resolve => resolve(sink.start?.(s.controller)))
    s.last.catch(e => spoil(s, e))
  }
  get locked () { return inside.get(this).writer !== null }
  getWriter () { return new WritableStreamDefaultWriter(this) }
  async abort (reason) {
    if (this.locked) throw invalid('WritableStream is locked')
    return abort(inside.get(this), reason)
  }
  async close () {
    if (this.locked) throw invalid('WritableStream is locked')
    return close(inside.get(this))
  }
  get [Symbol.toStringTag] () { return 'WritableStream' }
}

function spoil (s, e) {
  if (s.state === 'errored' || s.state === 'closed') return
  s.state = 'errored'
  s.error = e
  s.ended.reject(e)
}

// after runs a step of a sink when the steps before it have ended.
function after (s, step) {
  const done = s.last.then(() => {
    if (s.state === 'errored') throw s.error
    return step()
  })
  s.last = done
  done.catch(e => spoil(s, e))
  return done
}

async function abort (s, reason) {
  if (s.state === 'closed' || s.state === 'errored') return
  spoil(s, reason)
  await s.sink.abort?.(reason)
}

function write (s, chunk) {
  if (s.state === 'errored') return Promise.reject(s.error)
  if (s.state !== 'writable') return Promise.reject(invalid('WritableStream is closed'))
  const size = s.size(chunk)
  s.total += size
  const done = after(s, () => s.sink.write?.(chunk, s.controller))
  done.then(() => { s.total -= size }, () => {})
  return done
}

function close (s) {
  if (s.state === 'errored') return Promise.reject(s.error)
  if (s.state !== 'writable') return Promise.reject(invalid('WritableStream is closed'))
  s.state = 'closing'
  return after(s, () => s.sink.close?.()).then(() => {
    s.state = 'closed'
    s.ended.resolve()
  })
}

class WritableStreamDefaultWriter {
  #of
  constructor (stream) {
    if (stream.locked) throw invalid('WritableStream is locked')
    this.#of = inside.get(stream)
    this.#of.writer = this
    this.closed = this.#of.ended.promise
  }
  #open () {
    if (!this.#of) throw invalid('Writer is not bound to a WritableStream')
    return this.#of
  }
  get ready () { return this.#open().last.then(() => {}) }
  get desiredSize () { return this.#open().most - this.#of.total }
  async write (chunk) { return write(this.#open(), chunk) }
  async close () { return close(this.#open()) }
  async abort (reason) { return abort(this.#open(), reason) }
  releaseLock () {
    if (this.#of) this.#of.writer = null
    this.#of = null
  }
}

class TransformStream {
  constructor (transformer = {}, writableStrategy, readableStrategy) {
    let to
    this.readable = new ReadableStream({ start (c) { to = c }, cancel: reason => transformer.cancel?.(reason) }, readableStrategy)
    const controller = { get desiredSize () { return to.desiredSize }, enqueue: c => to.enqueue(c), error: e => to.error(e), terminate: () => to.close() }
    const failing = step => async chunk => {
      try {
        await step(chunk)
      } catch (e) {
        to.error(e)
        throw e
      }
    }
    this.writable = new WritableStream({
      start: () => transformer.start?.(controller),
      write: failing(chunk => transformer.transform ? transformer.transform(chunk, controller) : to.enqueue(chunk)),
      close: failing(async () => {
        await transformer.flush?.(controller)
        if (!inside.get(this.readable).closing) to.close()
      }),
      abort: e => to.error(e)
    }, writableStrategy)
  }
  get [Symbol.toStringTag] () { return 'TransformStream' }
}

class TextEncoderStream extends TransformStream {
  constructor () {
    const encoder = new TextEncoder()
    super({ transform: (text, c) => { if (String(text) !== '') c.enqueue(encoder.encode(text)) } })
    this.encoding = 'utf-8'
  }
}

class TextDecoderStream extends TransformStream {
  constructor (label, options) {
    const decoder = new TextDecoder(label, options)
    const give = (c, text) => { if (text !== '') c.enqueue(text) }
    super({ transform: (bytes, c) => give(c, decoder.decode(bytes, { stream: true })), flush: c => give(c, decoder.decode()) })
    this.encoding = decoder.encoding
  }
}

const disturbed = stream => inside.get(stream).disturbed

// piece is the size of the chunks in which bytes that are all there are streamed.
const piece = 65536
const streamOf = bytes => {
  let at = 0
  return new ReadableStream({
    pull (c) {
      if (at < bytes.length) c.enqueue(bytes.slice(at, at += piece))
      if (at >= bytes.length) c.close()
    }
  }, { highWaterMark: 0 })
}

// drain returns the bytes of a stream of bytes.
async function drain (stream) {
  const { Buffer } = require('buffer')
  const parts = []
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return new Uint8Array(Buffer.concat(parts))
    if (!ArrayBuffer.isView(value)) throw new TypeError('Received non-Uint8Array chunk')
    parts.push(value)
  }
}

module.exports = { ReadableStream, WritableStream, TransformStream, TextEncoderStream, TextDecoderStream, disturbed, streamOf, drain }
