// Intl.DateTimeFormat with the Gregorian calendar.
//
// The data has patterns by the fields that are asked for: yMMMd is the year, the short name of the
// month and the day. In a pattern, {MM} is the month in two digits, {MMMM} its name, {LLLL} its
// name if no day is beside it, {EEEE} and {cccc} the same for the day of the week.
const { lookup, dataOf, option, wholeNumber, optionsOf } = require('internal/intl')
const { zoneName, zoneAt } = __lent()

const numeric = ['numeric', '2-digit']
const names = ['narrow', 'short', 'long']
const fields = {
  weekday: names, era: names, year: numeric, month: [...numeric, ...names], day: numeric,
  dayPeriod: names, hour: numeric, minute: numeric, second: numeric,
  timeZoneName: ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric']
}
const dateFields = ['weekday', 'year', 'month', 'day']
const timeFields = ['hour', 'minute', 'second', 'fractionalSecondDigits', 'dayPeriod']
const styles = ['full', 'long', 'medium', 'short']

class DateTimeFormat {
  #o
  #locale
  #data
  #pattern
  // required and standard are what toLocaleString and its siblings need: date, time or any.
  constructor (locales, given, required = 'any', standard = 'date') {
    const found = lookup(locales)
    this.#locale = found.locale
    this.#data = dataOf(found)
    this.#o = this.#read(optionsOf(given), required, standard)
    this.#pattern = parsed(this.#choose())
    this.format = v => this.formatToParts(v).map(p => p.value).join('')
  }
  #read (given, required, standard) {
    const o = { timeZone: zone(given.timeZone) }
    for (const [name, allowed] of Object.entries(fields)) {
      const v = option(given, name, allowed)
      if (v !== undefined) o[name] = v
    }
    const fraction = wholeNumber(given, 'fractionalSecondDigits', 1, 3)
    if (fraction !== undefined) o.fractionalSecondDigits = fraction
    o.dateStyle = option(given, 'dateStyle', styles)
    o.timeStyle = option(given, 'timeStyle', styles)
    const hour12 = option(given, 'hour12', [true, false])
    const cycle = option(given, 'hourCycle', ['h11', 'h12', 'h23', 'h24'])
    o.hourCycle = hour12 === undefined ? cycle ?? this.#data.hour : hour12 ? (this.#data.hour === 'h11' ? 'h11' : 'h12') : 'h23'
    if (o.dateStyle || o.timeStyle) {
      const field = [...dateFields, ...timeFields, 'timeZoneName'].find(f => o[f] !== undefined)
      if (field) throw new TypeError(`Can't set option ${field} when ${o.dateStyle ? 'dateStyle' : 'timeStyle'} is used`)
      if (required === 'date' && o.timeStyle || required === 'time' && o.dateStyle) throw new TypeError(`Invalid option : ${required === 'date' ? 'timeStyle' : 'dateStyle'}`)
      return o
    }
    const has = list => list.some(f => o[f] !== undefined)
    if (!(required !== 'time' && has(dateFields)) && !(required !== 'date' && has(timeFields))) {
      if (standard !== 'time') o.year = o.month = o.day = 'numeric'
      if (standard !== 'date') o.hour = o.minute = o.second = 'numeric'
    }
    return o
  }
  // choose returns the pattern for the options.
  #choose () {
    const o = this.#o
    const { styles, join } = this.#data
    if (o.dateStyle || o.timeStyle) {
      const date = o.dateStyle && styles.date[o.dateStyle]
      const time = o.timeStyle && this.#timeOfStyle(styles.time[o.timeStyle])
      return date && time ? join.style[o.dateStyle].replace('{1}', date).replace('{0}', time) : date ?? time
    }
    const date = this.#datePattern()
    const time = this.#timePattern()
    if (!date || !time) return date || time
    const kind = o.weekday && !o.year && !o.month && !o.day ? 'week' : o.month !== 'long' ? (o.month === 'short' ? 'short' : 'num') : o.weekday === 'long' ? 'full' : 'long'
    return (time === '{z}' ? '{1}, {0}' : join.of[kind]).replace('{1}', date.replace('{c}', '{E}')).replace('{0}', time)
  }
  // timeOfStyle returns the pattern of a style with the cycle of hours that is asked for.
  #timeOfStyle (pattern) {
    const half = this.#o.hourCycle < 'h2'
    if (half === pattern.includes('{a}')) return pattern
    const made = this.#data.times[(half ? 'h' : 'H') + (pattern.includes('{ss}') ? 'ms' : 'm')]
    return (pattern.includes('{hh}') ? made.replace('{h}', '{hh}') : made) + (pattern.includes('{z}') ? ' {z}' : '')
  }
  #datePattern () {
    const o = this.#o
    const { dates } = this.#data
    if (!dateFields.some(f => o[f] !== undefined)) return ''
    const month = { undefined: '', numeric: 'M', '2-digit': 'M', narrow: 'MMM', short: 'MMM', long: 'MMMM' }[o.month]
    const rest = (o.year ? 'y' : '') + month + (o.day ? 'd' : '')
    const week = { undefined: '', narrow: 'E', short: 'E', long: 'EEEE' }[o.weekday]
    let pattern = dates[week + rest] ?? (week === 'EEEE' ? dates['E' + rest]?.replace(/\{[Ec]\}/, '{EEEE}') : undefined)
    if (pattern === undefined && rest === 'yd') pattern = `${dates.y} (${dates.d})`
    if (pattern === undefined) pattern = `${dates[rest]} ${week === 'EEEE' ? '{EEEE}' : dates.E}`
    if (rest === 'yM' && o.month === '2-digit') pattern = dates.yMM ?? pattern.replace('{M}', '{MM}')
    if (o.year === '2-digit') pattern = pattern.replace('{y}', '{yy}')
    if (o.day && (o.month === '2-digit' || o.day === '2-digit') || rest === 'M' && o.month === '2-digit') {
      if (month === 'M') pattern = pattern.replace(/\{MM?\}/, o.month === '2-digit' ? '{MM}' : '{M}')
      pattern = pattern.replace(/\{dd?\}/, o.day === '2-digit' ? '{dd}' : '{d}')
    }
    if (o.month === 'narrow') pattern = pattern.replace(/\{[ML]{3}\}/, '{MMMMM}')
    if (o.weekday === 'narrow') pattern = pattern.replace(/\{[Ec]+\}/, '{EEEEE}')
    return pattern
  }
  #timePattern () {
    const o = this.#o
    const { times, numbers } = this.#data
    const half = o.hourCycle < 'h2' ? 'h' : 'H'
    const [minute, second] = [o.minute !== undefined, o.second !== undefined || o.fractionalSecondDigits !== undefined]
    let pattern
    if (o.hour !== undefined) {
      const key = half + (second ? 'ms' : minute ? 'm' : '')
      pattern = (o.minute === '2-digit' && times[half + 'm' + key.slice(1)]) || times[key]
      if (o.timeZoneName) pattern = times[key + 'z'] ?? pattern + ' {z}'
      if (o.hour === '2-digit') pattern = pattern.replace('{h}', '{hh}')
      if (second && !minute) pattern = pattern.replace(/\{mm\}./, '')
    } else {
      pattern = minute && second ? times.ms : minute ? '{m}' : second ? (o.second === undefined ? '' : '{s}') : ''
      if (o.timeZoneName) pattern = pattern === '' ? '{z}' : pattern + ' {z}'
    }
    if (o.fractionalSecondDigits) pattern = o.second === undefined ? '{S}' : pattern.replace(/\{ss?\}/, s => s + numbers.decimal + '{S}')
    return pattern
  }
  formatToParts (v) {
    const t = v === undefined ? Date.now() : Number(v)
    if (!(Math.abs(t) <= 864e13)) throw new RangeError('Invalid time value')
    const list = []
    const at = new Moment(t, this.#o, this.#data, this.#locale)
    for (const { field, text } of this.#pattern) list.push(field ? at.part(field) : { type: 'literal', value: text })
    return list
  }
  formatRange (from, to) {
    const [a, b] = [this.format(from), this.format(to)]
    return a === b ? a : `${a} – ${b}`
  }
  resolvedOptions () {
    const { timeZone, hourCycle, ...rest } = this.#o
    const shown = Object.fromEntries(Object.entries(rest).filter(([, v]) => v !== undefined))
    const hours = rest.hour || rest.timeStyle ? { hourCycle, hour12: hourCycle < 'h2' } : {}
    return { locale: this.#locale, calendar: 'gregory', numberingSystem: 'latn', timeZone, ...hours, ...shown }
  }
}

// parsed returns the fields and texts of a pattern.
function parsed (pattern) {
  const list = []
  for (const piece of pattern.split('{')) {
    const end = piece.indexOf('}')
    if (end >= 0) list.push({ field: piece.slice(0, end) })
    if (end + 1 < piece.length) list.push({ text: piece.slice(end + 1) })
  }
  return list
}

function zone (name) {
  if (name === undefined) return zoneName('')
  const found = zoneName(String(name))
  if (found === '') throw new RangeError(`Invalid time zone specified: ${name}`)
  return found
}

// Moment is a time in a time zone.
class Moment {
  #o
  #data
  #locale
  #at
  #offset
  #short
  constructor (t, o, data, locale) {
    ;[this.#offset, this.#short] = zoneAt(o.timeZone, t)
    this.#at = new Date(t + this.#offset * 1000)
    this.#o = o
    this.#data = data
    this.#locale = locale
  }
  part (field) {
    const at = this.#at
    const two = n => String(n).padStart(2, '0')
    const name = (type, list, i) => ({ type, value: list[i] })
    const { months, weekdays, periods } = this.#data
    const hour = () => {
      const h = at.getUTCHours()
      return { h11: h % 12, h12: h % 12 || 12, h23: h, h24: h || 24 }[this.#o.hourCycle]
    }
    switch (field) {
      case 'y': return { type: 'year', value: String(at.getUTCFullYear()) }
      case 'yy': return { type: 'year', value: two(at.getUTCFullYear() % 100) }
      case 'M': return { type: 'month', value: String(at.getUTCMonth() + 1) }
      case 'MM': return { type: 'month', value: two(at.getUTCMonth() + 1) }
      case 'MMM': return name('month', months.short ?? months.long, at.getUTCMonth())
      case 'LLL': return name('month', months.shortAlone ?? months.short ?? months.longAlone ?? months.long, at.getUTCMonth())
      case 'MMMM': return name('month', months.long, at.getUTCMonth())
      case 'LLLL': return name('month', months.longAlone ?? months.long, at.getUTCMonth())
      case 'MMMMM': return name('month', months.narrow, at.getUTCMonth())
      case 'd': return { type: 'day', value: String(at.getUTCDate()) }
      case 'dd': return { type: 'day', value: two(at.getUTCDate()) }
      case 'E': return name('weekday', weekdays.short ?? weekdays.long, at.getUTCDay())
      case 'c': return name('weekday', weekdays.shortAlone ?? weekdays.short ?? weekdays.long, at.getUTCDay())
      case 'EEEE': return name('weekday', weekdays.long, at.getUTCDay())
      case 'cccc': return name('weekday', weekdays.longAlone ?? weekdays.long, at.getUTCDay())
      case 'EEEEE': return name('weekday', weekdays.narrow, at.getUTCDay())
      case 'h': return { type: 'hour', value: String(hour()) }
      case 'hh': return { type: 'hour', value: two(hour()) }
      case 'm': return { type: 'minute', value: String(at.getUTCMinutes()) }
      case 'mm': return { type: 'minute', value: two(at.getUTCMinutes()) }
      case 's': return { type: 'second', value: String(at.getUTCSeconds()) }
      case 'ss': return { type: 'second', value: two(at.getUTCSeconds()) }
      case 'S': return { type: 'fractionalSecond', value: String(at.getUTCMilliseconds()).padStart(3, '0').slice(0, this.#o.fractionalSecondDigits) }
      case 'a': return name('dayPeriod', periods, at.getUTCHours() < 12 ? 0 : 1)
      default: return { type: 'timeZoneName', value: this.#zone() }
    }
  }
  // zone returns UTC, the short name of a zone of North America if the language has it, or the
  // offset.
  #zone () {
    const [prefix, zero, utc, point, states] = this.#data.zone
    const style = this.#o.timeZoneName ?? (this.#o.timeStyle === 'full' ? 'long' : 'short')
    if (this.#o.timeZone === 'UTC' && style === 'long' && this.#locale.startsWith('en')) return 'Coordinated Universal Time'
    if (this.#o.timeZone === 'UTC' && !style.endsWith('Offset')) return utc
    if (style === 'short' && states && /^(E|C|M|P|AK|H)[SD]T$/.test(this.#short) && this.#o.timeZone.startsWith('America/')) return this.#short
    const minutes = Math.abs(Math.trunc(this.#offset / 60))
    if (minutes === 0) return style.startsWith('long') ? prefix : zero.replace(/\+0$/, style.endsWith('Offset') ? '+0' : '')
    const [h, m] = [Math.floor(minutes / 60), String(minutes % 60).padStart(2, '0')]
    const sign = this.#offset < 0 ? this.#data.numbers.minus : '+'
    if (style.startsWith('long')) return `${prefix}${sign}${String(h).padStart(2, '0')}${point}${m}`
    return `${prefix}${sign}${h}${m === '00' ? '' : point + m}`
  }
}

module.exports = { DateTimeFormat }
