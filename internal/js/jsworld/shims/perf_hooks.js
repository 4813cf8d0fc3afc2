// The global performance, and the module of Node.js that has it. Marks and measures are not kept.
const timeOrigin = Date.now()
const { now } = __lent()
const entry = (entryType, name, startTime, duration, detail = null) => ({ name, entryType, startTime, duration, detail })

exports.performance = {
  timeOrigin,
  now,
  mark: (name, options) => entry('mark', String(name), options?.startTime ?? now(), 0, options?.detail),
  measure: (name) => entry('measure', String(name), 0, now()),
  clearMarks () {},
  clearMeasures () {},
  getEntries: () => [],
  getEntriesByName: () => [],
  getEntriesByType: () => [],
  toJSON: () => ({ timeOrigin })
}
