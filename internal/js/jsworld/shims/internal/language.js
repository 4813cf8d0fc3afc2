// What goja lacks of the language, apart from RegExp and locales.
const define = (o, methods) => {
  for (const name of Object.keys(methods)) Object.defineProperty(o, name, { value: methods[name], writable: true, configurable: true })
}

define(Error, {
  stackTraceLimit: 10,
  captureStackTrace (target) {
    const [, ...calls] = String(new Error().stack).split('\n').filter(line => line.startsWith('\tat ') || line.startsWith('    at '))
    define(target, { stack: [`${target}`, ...calls].join('\n') })
  }
})

// lone calls f for each surrogate without its other half.
const lone = (text, f) => {
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c < 0xd800 || c > 0xdfff) continue
    const next = text.charCodeAt(i + 1)
    if (c < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) i++
    else f(i)
  }
}
define(String.prototype, {
  isWellFormed () {
    let well = true
    lone(String(this), () => { well = false })
    return well
  },
  toWellFormed () {
    const text = String(this)
    let [out, from] = ['', 0]
    lone(text, i => { [out, from] = [out + text.slice(from, i) + '\ufffd', i + 1] })
    return out + text.slice(from)
  }
})
