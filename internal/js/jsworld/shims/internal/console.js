// console logs text; objects are logged as JSON if possible.
const { log } = __lent()
const show = v => {
  if (typeof v === 'string') return v
  if (v instanceof Error) return v.stack || String(v)
  if (typeof v === 'object' && v !== null) {
    try { return JSON.stringify(v) } catch (e) { return Object.prototype.toString.call(v) }
  }
  return String(v)
}
const print = level => (...args) => log(level, args.map(show).join(' '))

exports.console = {
  log: print('info'), info: print('info'), debug: print('debug'), trace: print('trace'),
  warn: print('warn'), error: print('error'), dir: print('info'), table: print('info'),
  assert: (ok, ...args) => { if (!ok) print('error')('Assertion failed:', ...args) },
  group: print('info'), groupEnd: () => {}, time: () => {}, timeEnd: () => {}
}
