// Makes a fresh world one in which text is never run as code. Its completion value is
// what the host needs of the language, as it is before any script can change it.
(() => {
  const define = Object.defineProperty;

  // refuse makes the function that stands in the place of one that runs text.
  const refuse = (name, prototype) => {
    const f = function () {
      throw new EvalError(name + ' is not available here: text is not run as code');
    };
    define(f, 'name', { value: name });
    if (prototype !== undefined) {
      define(f, 'prototype', { value: prototype, writable: false });
      define(prototype, 'constructor', { value: f, writable: false, configurable: false });
    }
    return f;
  };
  const hide = (name, value) => define(globalThis, name, { value, writable: true, enumerable: false, configurable: true });

  hide('eval', refuse('eval'));
  hide('Function', refuse('Function', Function.prototype));
  refuse('AsyncFunction', Object.getPrototypeOf(async function () {}));
  refuse('GeneratorFunction', Object.getPrototypeOf(function* () {}));

  const Adopting = Promise;
  return {
    parse: JSON.parse,
    isArray: Array.isArray,
    adopt: (thenable) => new Adopting((resolve) => resolve(thenable)),
  };
})()
