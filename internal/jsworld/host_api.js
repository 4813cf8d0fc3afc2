// Gives a world require. Its completion value is a function of what
// the host lends: it answers require, for the host's own code.
(lent) => {
  'use strict';
  const { ask, askNow, shim, own } = lent;

  // Modules are evaluated once a world.
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
