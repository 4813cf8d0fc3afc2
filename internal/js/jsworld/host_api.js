// Defines require in a world. The value of this program is a function that gets the Go functions
// it needs and returns require.
(lent) => {
  'use strict';
  const { ask, askNow, shim, own } = lent;

  // Each module is evaluated once per world.
  const loaded = new Map();
  const require = (name) => {
    const id = String(name).replace(/^node:/, '');
    if (loaded.has(id)) return loaded.get(id).exports;
    const module = { exports: {} };
    const body = shim(id);
    loaded.set(id, module);
    try {
      body(module.exports, require, module, ask, askNow, own);
    } catch (e) {
      loaded.delete(id);
      throw e;
    }
    return module.exports;
  };
  return require;
}
