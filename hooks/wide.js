// Gives a world console, timers and require. Its completion value is a function of what
// the host lends: it answers require, for the host's own code.
(lent) => {
  'use strict';
  const { ask, askNow, log, setTimer, clearTimer, shim, shims } = lent;
  const define = Object.defineProperty;
  const hide = (name, value) => define(globalThis, name, { value, writable: true, enumerable: false, configurable: true });

  // Modules are evaluated once a world.
  const loaded = new Map();
  const require = (name) => {
    const id = String(name).replace(/^node:/, '');
    if (loaded.has(id)) return loaded.get(id).exports;
    const module = { exports: {} };
    const body = shim(id);
    loaded.set(id, module);
    try {
      body(module.exports, require, module, ask, askNow);
    } catch (e) {
      loaded.delete(id);
      throw e;
    }
    return module.exports;
  };
  hide('require', require);

  // Globals that live in a module cost nothing until they are used.
  for (const [name, id] of Object.entries(shims)) {
    define(globalThis, name, {
      configurable: true,
      enumerable: false,
      get: () => { const value = require(id)[name]; hide(name, value); return value; },
      set: (value) => hide(name, value),
    });
  }

  // What console prints is text; an object is shown as JSON where it can be.
  const show = (v) => {
    if (typeof v === 'string') return v;
    if (v instanceof Error) return v.stack || String(v);
    if (typeof v === 'object' && v !== null) {
      try { return JSON.stringify(v); } catch (e) { return Object.prototype.toString.call(v); }
    }
    return String(v);
  };
  const print = (level) => (...args) => log(level, args.map(show).join(' '));
  hide('console', {
    log: print('info'), info: print('info'), debug: print('debug'), trace: print('trace'),
    warn: print('warn'), error: print('error'), dir: print('info'), table: print('info'),
    assert: (ok, ...args) => { if (!ok) print('error')('Assertion failed:', ...args); },
    group: print('info'), groupEnd: () => {}, time: () => {}, timeEnd: () => {},
  });

  const timer = (repeat) => (f, ms, ...args) => {
    if (typeof f !== 'function') throw new TypeError('the first argument of a timer must be a function');
    const id = setTimer(() => f(...args), Math.max(1, Number(ms) || 0), repeat);
    return id;
  };
  hide('setTimeout', timer(false));
  hide('setInterval', timer(true));
  hide('setImmediate', (f, ...args) => setTimeout(f, 0, ...args));
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) hide(name, (id) => clearTimer(Number(id) || 0));
  hide('queueMicrotask', (f) => { Promise.resolve().then(() => f()); });
  return require;
}
