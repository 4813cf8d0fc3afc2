// FormData, and its form on the wire: multipart/form-data.
const { Buffer } = require('buffer')
const { Blob, File, bytesOf } = require('internal/blob')

class FormData {
  #list = []
  constructor (form) {
    if (form !== undefined) throw new TypeError('FormData constructor: Argument 1 could not be converted to: undefined.')
  }
  append (name, value, file) { this.#list.push(entry(name, value, file)) }
  set (name, value, file) {
    const made = entry(name, value, file)
    const at = this.#list.findIndex(([n]) => n === made[0])
    this.delete(name)
    this.#list.splice(at < 0 ? this.#list.length : at, 0, made)
  }
  get (name) { return this.#list.find(([n]) => n === String(name))?.[1] ?? null }
  getAll (name) { return this.#list.filter(([n]) => n === String(name)).map(([, v]) => v) }
  has (name) { return this.#list.some(([n]) => n === String(name)) }
  delete (name) { this.#list = this.#list.filter(([n]) => n !== String(name)) }
  forEach (f, self) { for (const [n, v] of this) f.call(self, v, n, this) }
  * entries () { for (const [n, v] of this.#list) yield [n, v] }
  * keys () { for (const [n] of this.#list) yield n }
  * values () { for (const [, v] of this.#list) yield v }
  [Symbol.iterator] () { return this.entries() }
  get [Symbol.toStringTag] () { return 'FormData' }
}

function entry (name, value, file) {
  if (!(value instanceof Blob)) {
    if (file !== undefined) throw new TypeError("Failed to execute 'append' on 'FormData': parameter 2 is not of type 'Blob'")
    return [String(name), String(value)]
  }
  if (value instanceof File && file === undefined) return [String(name), value]
  return [String(name), new File([value], file ?? 'blob', { type: value.type })]
}

const lines = s => s.replace(/\r\n?|\n/g, '\r\n')
const quoted = s => s.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22')

// encode returns the body of a form and its content type.
function encode (form) {
  const boundary = '----formdata-' + require('crypto').randomBytes(16).toString('hex')
  const parts = []
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(lines(name))}"`
    if (typeof value === 'string') parts.push(`${head}\r\n\r\n${lines(value)}\r\n`)
    else parts.push(`${head}; filename="${quoted(value.name)}"\r\nContent-Type: ${value.type || 'application/octet-stream'}\r\n\r\n`, value, '\r\n')
  }
  parts.push(`--${boundary}--\r\n`)
  return { bytes: new Uint8Array(Buffer.concat(parts.map(bytesOf))), type: `multipart/form-data; boundary=${boundary}` }
}

const unquoted = s => s.replace(/%0A/gi, '\n').replace(/%0D/gi, '\r').replace(/%22/g, '"')

// decode returns the form in a body of a content type.
function decode (bytes, type) {
  const form = new FormData()
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) {
    for (const [name, value] of new URLSearchParams(Buffer.from(bytes).toString())) form.append(name, value)
    return form
  }
  const boundary = /^multipart\/form-data\b.*?;\s*boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type)
  if (!boundary) throw new TypeError('Content-Type was not one of "multipart/form-data" or "application/x-www-form-urlencoded".')
  const text = '\r\n' + Buffer.from(bytes).toString('latin1') // one character for each byte
  const parts = text.split(`\r\n--${boundary[1] ?? boundary[2]}`)
  if (parts.length < 2 || !parts.at(-1).startsWith('--')) throw new TypeError('Failed to parse body as FormData.')
  for (const part of parts.slice(1, -1)) {
    const at = part.indexOf('\r\n\r\n')
    const head = Buffer.from(part.slice(0, Math.max(at, 0)), 'latin1').toString()
    const name = /^content-disposition:.*?;\s*name="([^"]*)"/im.exec(head)
    if (at < 0 || !name) throw new TypeError('Failed to parse body as FormData.')
    const file = /^content-disposition:.*?;\s*filename="([^"]*)"/im.exec(head)
    const value = Buffer.from(part.slice(at + 4), 'latin1')
    const kind = /^content-type:\s*(.*?)\s*$/im.exec(head)
    form.append(unquoted(name[1]), file ? new File([value], unquoted(file[1]), { type: kind?.[1] ?? 'text/plain' }) : value.toString())
  }
  return form
}

module.exports = { FormData, encode, decode }
