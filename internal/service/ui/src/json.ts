// JSON whose numbers keep their digits. A number of JavaScript has about 17 of them, and is written in its own way: the id
// 12345678901234567890 would become another one, and 1.50 would become 1.5.

/** A number as it is written. It is made only where a number of JavaScript would be written in another way. */
export class Digits {
  constructor(private readonly text: string) {}
  toString() { return this.text; }
  valueOf() { return Number(this.text); }
}

const mark = `digits ${Math.random()} `; // begins a text that stands for a number; nobody else can know it
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const mayDiffer = /(?:^|"\s*:|[,[])\s*(?:-0(?![\d.])|-?(?:[\d.]{16}|\d+(?:\.\d+)?[eE]|\d+\.\d*0(?!\d)))/;

/** Reads JSON as JSON.parse does. */
export function parse(text: string): any {
  const doc = JSON.parse(text);
  if (!mayDiffer.test(text)) return doc;
  const marked = text.replace(tokens, (token) => (token[0] === '"' || String(Number(token)) === token ? token : `"${mark}${token}"`));
  return JSON.parse(marked, (_, v) => (typeof v === 'string' && v.startsWith(mark) ? new Digits(v.slice(mark.length)) : v));
}

/** Writes JSON as JSON.stringify does. */
export function write(value: unknown, indent = 0): string {
  return JSON.stringify(value, (_, v) => (v instanceof Digits ? `${mark}${v}` : v), indent)?.replaceAll(new RegExp(`"${mark}(.*?)"`, 'g'), '$1');
}

/** A value as text: a text as it is, anything else as JSON. */
export const shown = (value: unknown, indent = 0): string => (typeof value === 'string' ? value : write(value, indent));
