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

const counts = new Map()
const count = (label = 'default') => {
  counts.set(label, (counts.get(label) ?? 0) + 1)
  print('info')(`${label}: ${counts.get(label)}`)
}
const started = new Map()
const elapsed = (label = 'default', ...args) => {
  if (started.has(label)) print('info')(`${label}: ${(performance.now() - started.get(label)).toFixed(3)}ms`, ...args)
}

exports.console = {
  log: print('info'), info: print('info'), debug: print('debug'), trace: print('trace'),
  warn: print('warn'), error: print('error'), dir: print('info'), table: print('info'),
  assert: (ok, ...args) => { if (!ok) print('error')('Assertion failed:', ...args) },
  count, countReset: (label = 'default') => { counts.delete(label) },
  group: print('info'), groupCollapsed: print('info'), groupEnd: () => {},
  time: (label = 'default') => { started.set(label, performance.now()) },
  timeLog: elapsed,
  timeEnd: (label = 'default') => { elapsed(label); started.delete(label) }
}
