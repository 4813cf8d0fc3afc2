// Intl.DateTimeFormat with the Gregorian calendar.
//
// The data has patterns by the fields that are asked for: yMMMd is the year, the short name of the
// month and the day. In a pattern, {MM} is the month in two digits, {MMM} its short name, {MMMM} its
// name and {EEEE} that of the day of the week.
const { lookup, option, wholeNumber, optionsOf } = require('internal/intl')
const { zoneName, zoneAt } = __lent()

// Data of the Unicode CLDR 48.0. Copyright © Unicode, Inc.; Unicode License v3, https://www.unicode.org/license.txt
const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December']
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const dates = {
  d: '{d}',
  M: '{M}',
  MMM: '{MMM}',
  MMMM: '{MMMM}',
  y: '{y}',
  Md: '{M}/{d}',
  MMMd: '{MMM} {d}',
  MMMMd: '{MMMM} {d}',
  yM: '{M}/{y}',
  yMMM: '{MMM} {y}',
  yMMMM: '{MMMM} {y}',
  yMd: '{M}/{d}/{y}',
  yMMMd: '{MMM} {d}, {y}',
  yMMMMd: '{MMMM} {d}, {y}'
}
const times = { h: '{h} {a}', hm: '{h}:{mm} {a}', hms: '{h}:{mm}:{ss} {a}', H: '{hh}', Hz: '{hh}h {z}', Hm: '{hh}:{mm}', Hms: '{hh}:{mm}:{ss}', ms: '{mm}:{ss}' }
const dateStyles = { full: '{EEEE}, {MMMM} {d}, {y}', long: '{MMMM} {d}, {y}', medium: '{MMM} {d}, {y}', short: '{M}/{d}/{yy}' }
const timeStyles = { full: '{h}:{mm}:{ss} {a} {z}', long: '{h}:{mm}:{ss} {a} {z}', medium: '{h}:{mm}:{ss} {a}', short: '{h}:{mm} {a}' }

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
  #pattern
  // required and standard are what toLocaleString and its siblings need: date, time or any.
  constructor (locales, given, required = 'any', standard = 'date') {
    this.#locale = lookup(locales)
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
    o.hourCycle = hour12 === undefined ? cycle ?? 'h12' : hour12 ? 'h12' : 'h23'
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
    const [date, time] = o.dateStyle || o.timeStyle ? [dateStyles[o.dateStyle], o.timeStyle && this.#timeOfStyle()] : [this.#datePattern(), this.#timePattern()]
    if (!date || !time) return date || time
    let between = ', '
    if (['full', 'long'].includes(o.dateStyle) || o.month === 'long' && time !== '{z}') between = ' at '
    else if (date === '{E}' || date === '{EEEE}' || date === '{EEEEE}') between = time === '{z}' ? ', ' : ' '
    return date + between + time
  }
  // timeOfStyle returns the pattern of a style with the cycle of hours that is asked for.
  #timeOfStyle () {
    const pattern = timeStyles[this.#o.timeStyle]
    if (this.#o.hourCycle < 'h2') return pattern
    return (pattern.includes('{ss}') ? times.Hms : times.Hm) + (pattern.includes('{z}') ? ' {z}' : '')
  }
  #datePattern () {
    const o = this.#o
    if (!dateFields.some(f => o[f] !== undefined)) return ''
    const month = { undefined: '', numeric: 'M', '2-digit': 'M', narrow: 'MMM', short: 'MMM', long: 'MMMM' }[o.month]
    const rest = (o.year ? 'y' : '') + month + (o.day ? 'd' : '')
    let pattern = withWeekday(rest, { narrow: '{EEEEE}', short: '{E}', long: '{EEEE}' }[o.weekday])
    if (rest === 'yM' && o.month === '2-digit') pattern = pattern.replace('{M}', '{MM}')
    if (o.year === '2-digit') pattern = pattern.replace('{y}', '{yy}')
    if (o.day && (o.month === '2-digit' || o.day === '2-digit') || rest === 'M' && o.month === '2-digit') {
      if (o.month === '2-digit') pattern = pattern.replace('{M}', '{MM}')
      if (o.day === '2-digit') pattern = pattern.replace('{d}', '{dd}')
    }
    return o.month === 'narrow' ? pattern.replace('{MMM}', '{MMMMM}') : pattern
  }
  #timePattern () {
    const o = this.#o
    const [minute, second] = [o.minute !== undefined, o.second !== undefined || o.fractionalSecondDigits !== undefined]
    let pattern
    if (o.hour !== undefined) {
      const key = (o.hourCycle < 'h2' ? 'h' : 'H') + (second ? 'ms' : minute ? 'm' : '')
      pattern = times[key]
      if (o.timeZoneName) pattern = times[key + 'z'] ?? pattern + ' {z}'
      if (o.hour === '2-digit') pattern = pattern.replace('{h}', '{hh}')
      if (second && !minute) pattern = pattern.replace('{mm}:', '')
    } else {
      pattern = minute && second ? times.ms : minute ? '{m}' : second ? (o.second === undefined ? '' : '{s}') : ''
      if (o.timeZoneName) pattern = pattern === '' ? '{z}' : pattern + ' {z}'
    }
    if (o.fractionalSecondDigits) pattern = o.second === undefined ? '{S}' : pattern.replace(/\{ss?\}/, s => s + '.{S}')
    return pattern
  }
  formatToParts (v) {
    const t = v === undefined ? Date.now() : Number(v)
    if (!(Math.abs(t) <= 864e13)) throw new RangeError('Invalid time value')
    const list = []
    const at = new Moment(t, this.#o)
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

// withWeekday returns the pattern of a date, with the day of the week if one is given.
function withWeekday (fields, weekday) {
  if (fields === 'yd') return '{y} ({d})'
  if (!weekday) return dates[fields]
  if (fields === '') return weekday
  if (fields === 'd') return `{d} ${weekday}`
  return /Md/.test(fields) ? `${weekday}, ${dates[fields]}` : `${dates[fields]} ${weekday}`
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
  #at
  #offset
  #short
  constructor (t, o) {
    ;[this.#offset, this.#short] = zoneAt(o.timeZone, t)
    this.#at = new Date(t + this.#offset * 1000)
    this.#o = o
  }
  part (field) {
    const at = this.#at
    const two = n => String(n).padStart(2, '0')
    const month = length => ({ type: 'month', value: months[at.getUTCMonth()].slice(0, length) })
    const weekday = length => ({ type: 'weekday', value: weekdays[at.getUTCDay()].slice(0, length) })
    const hour = () => {
      const h = at.getUTCHours()
      return { h11: h % 12, h12: h % 12 || 12, h23: h, h24: h || 24 }[this.#o.hourCycle]
    }
    switch (field) {
      case 'y': return { type: 'year', value: String(at.getUTCFullYear()) }
      case 'yy': return { type: 'year', value: two(at.getUTCFullYear() % 100) }
      case 'M': return { type: 'month', value: String(at.getUTCMonth() + 1) }
      case 'MM': return { type: 'month', value: two(at.getUTCMonth() + 1) }
      case 'MMM': return month(3)
      case 'MMMM': return month()
      case 'MMMMM': return month(1)
      case 'd': return { type: 'day', value: String(at.getUTCDate()) }
      case 'dd': return { type: 'day', value: two(at.getUTCDate()) }
      case 'E': return weekday(3)
      case 'EEEE': return weekday()
      case 'EEEEE': return weekday(1)
      case 'h': return { type: 'hour', value: String(hour()) }
      case 'hh': return { type: 'hour', value: two(hour()) }
      case 'm': return { type: 'minute', value: String(at.getUTCMinutes()) }
      case 'mm': return { type: 'minute', value: two(at.getUTCMinutes()) }
      case 's': return { type: 'second', value: String(at.getUTCSeconds()) }
      case 'ss': return { type: 'second', value: two(at.getUTCSeconds()) }
      case 'S': return { type: 'fractionalSecond', value: String(at.getUTCMilliseconds()).padStart(3, '0').slice(0, this.#o.fractionalSecondDigits) }
      case 'a': return { type: 'dayPeriod', value: at.getUTCHours() < 12 ? 'AM' : 'PM' }
      default: return { type: 'timeZoneName', value: this.#zone() }
    }
  }
  // zone returns UTC, the short name of a zone of North America, or the offset.
  #zone () {
    const style = this.#o.timeZoneName ?? (this.#o.timeStyle === 'full' ? 'long' : 'short')
    if (this.#o.timeZone === 'UTC' && style === 'long') return 'Coordinated Universal Time'
    if (this.#o.timeZone === 'UTC' && !style.endsWith('Offset')) return 'UTC'
    if (style === 'short' && /^(E|C|M|P|AK|H)[SD]T$/.test(this.#short) && this.#o.timeZone.startsWith('America/')) return this.#short
    const minutes = Math.abs(Math.trunc(this.#offset / 60))
    if (minutes === 0) return style === 'shortOffset' ? 'GMT+0' : 'GMT'
    const [h, m] = [Math.floor(minutes / 60), String(minutes % 60).padStart(2, '0')]
    const sign = this.#offset < 0 ? '-' : '+'
    if (style.startsWith('long')) return `GMT${sign}${String(h).padStart(2, '0')}:${m}`
    return `GMT${sign}${h}${m === '00' ? '' : ':' + m}`
  }
}

module.exports = { DateTimeFormat }
