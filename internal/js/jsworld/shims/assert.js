// The assert module of Node.js, without the diff in its messages.
const { inspect, deepEqual: same } = require('util')

class AssertionError extends Error {
  constructor ({ message, actual, expected, operator }) {
    super(message ?? `${inspect(actual)} ${operator} ${inspect(expected)}`)
    this.name = 'AssertionError'
    Object.assign(this, { code: 'ERR_ASSERTION', generatedMessage: message === undefined, actual, expected, operator })
  }
}

function check (holds, actual, expected, operator, message, words) {
  if (holds) return
  if (message instanceof Error) throw message
  const e = new AssertionError({ message: message ?? words, actual, expected, operator })
  e.generatedMessage = message === undefined
  throw e
}

const pair = (operator, holds, words) => (actual, expected, message) => check(holds(actual, expected), actual, expected, operator, message, `${words}:\n\n${inspect(actual)} and ${inspect(expected)}`)

const ok = (v, message) => check(v, v, true, '==', message, `The expression evaluated to a falsy value: ${inspect(v)}`)
const strict = {
  strictEqual: pair('strictEqual', Object.is, 'Expected values to be strictly equal'),
  notStrictEqual: pair('notStrictEqual', (a, b) => !Object.is(a, b), 'Expected values not to be strictly equal'),
  deepStrictEqual: pair('deepStrictEqual', (a, b) => same(a, b, false), 'Expected values to be strictly deep-equal'),
  notDeepStrictEqual: pair('notDeepStrictEqual', (a, b) => !same(a, b, false), 'Expected values not to be strictly deep-equal')
}
const loose = {
  equal: pair('==', (a, b) => a == b || Number.isNaN(a) && Number.isNaN(b), 'Expected values to be loosely equal'), // eslint-disable-line eqeqeq
  notEqual: pair('!=', (a, b) => a != b, 'Expected values not to be loosely equal'), // eslint-disable-line eqeqeq
  deepEqual: pair('deepEqual', (a, b) => same(a, b, true), 'Expected values to be loosely deep-equal'),
  notDeepEqual: pair('notDeepEqual', (a, b) => !same(a, b, true), 'Expected values not to be loosely deep-equal')
}

// fits reports whether the thrown value is the expected one.
function fits (thrown, expected) {
  if (expected === undefined || typeof expected === 'string') return true
  if (expected instanceof RegExp) return expected.test(String(thrown))
  if (typeof expected !== 'function') return Object.entries(expected).every(([k, v]) => v instanceof RegExp && typeof thrown?.[k] === 'string' ? v.test(thrown[k]) : same(thrown?.[k], v, false))
  if (expected.prototype !== undefined && thrown instanceof expected) return true
  return !Error.isPrototypeOf(expected) && expected(thrown) === true
}

function threw (thrown, expected, message) {
  if (!fits(thrown.e, expected)) throw thrown.e instanceof Error && typeof expected === 'function' ? thrown.e : new AssertionError({ message: message ?? 'The error is not the one that was expected', actual: thrown.e, expected, operator: 'throws' })
}

function throws (f, expected, message) {
  let thrown
  try { f() } catch (e) { thrown = { e } }
  check(thrown, undefined, expected, 'throws', message ?? (typeof expected === 'string' ? expected : undefined), 'Missing expected exception.')
  threw(thrown, expected, message)
}

async function rejects (p, expected, message) {
  let thrown
  try { await (typeof p === 'function' ? p() : p) } catch (e) { thrown = { e } }
  check(thrown, undefined, expected, 'rejects', message, 'Missing expected rejection.')
  threw(thrown, expected, message)
}

const others = {
  AssertionError,
  ok,
  throws,
  rejects,
  fail: message => check(false, undefined, undefined, 'fail', message, 'Failed'),
  doesNotThrow: f => { f() },
  doesNotReject: async p => { await (typeof p === 'function' ? p() : p) },
  ifError: v => { if (v !== null && v !== undefined) throw v },
  match: (s, expression, message) => check(expression.test(s), s, expression, 'match', message, `The input did not match the regular expression ${expression}. Input:\n\n${inspect(s)}\n`),
  doesNotMatch: (s, expression, message) => check(!expression.test(s), s, expression, 'doesNotMatch', message, `The input was expected to not match the regular expression ${expression}. Input:\n\n${inspect(s)}\n`)
}

const assert = Object.assign((v, message) => ok(v, message), others, loose, strict)
assert.strict = Object.assign((v, message) => ok(v, message), others, strict, { equal: strict.strictEqual, notEqual: strict.notStrictEqual, deepEqual: strict.deepStrictEqual, notDeepEqual: strict.notDeepStrictEqual })
assert.strict.strict = assert.strict
module.exports = assert
