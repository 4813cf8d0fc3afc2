// One line of a log: where it comes from, how bad it is, and its text.
import { clock } from '../format';
import { parse, shown } from '../json';
import { A, setQuery } from '../router';
import { spans, type Span } from './ansi';
import { tabHref } from './page';

/** Where lines of a merged log come from. */
export interface Origin { line: number; step: string; attempt: number; stream: 'stdout' | 'stderr'; time?: string }
export interface LogText { text: string; of?: Origin; cut?: boolean }

type Level = 'error' | 'warn' | 'info' | 'debug';

const glyphs = { error: '✕', warn: '▲', info: '•', debug: '·' }; // the level is told by more than its colour
const first: Record<string, Level> = { f: 'error', p: 'error', c: 'error', e: 'error', w: 'warn', i: 'info', n: 'info', d: 'debug', t: 'debug' }; // fatal, panic, critical, error ...
const words = '(fatal|panic|critical|error|warn|warning|info|debug|trace)';
// level=..., a word in capitals, or a word before a colon or a bracket at the beginning.
const levelWord = new RegExp(`\\b(?:level|lvl|severity)["']?[=:]["']?(\\w+)|\\b${words.toUpperCase()}\\b|^\\W*${words}[\\]:]`);

function levelOf(word: unknown): Level | undefined {
  if (typeof word === 'number') return word >= 50 ? 'error' : word >= 40 ? 'warn' : word >= 30 ? 'info' : 'debug'; // pino, bunyan
  return first[String(word ?? '').charAt(0).toLowerCase()];
}

/** A line that is an object as JSON: its message first, then its other members. */
function readJSON(text: string): { level?: Level; message: string; rest: string } | undefined {
  if (!text.startsWith('{') || !text.endsWith('}')) return;
  try {
    const { level, severity, lvl, msg, message, event, ...rest } = parse(text), said = msg ?? message ?? event;
    if (typeof said !== 'string') return;
    return { level: levelOf(level ?? severity ?? lvl), message: said, rest: Object.entries(rest).map(([k, v]) => `${k}=${shown(v)}`).join(' ') };
  } catch { /* text */ }
}

// Hours to tenths of a second.
const timeOf = (time: string) => clock(time).slice(11) + (/\.\d/.exec(time) ?? '.0');

export interface LineLook { times: boolean; raw: boolean; marked: [number, number]; find: string; run?: string }

/** A line. run is set in the log of a whole run: then the step stands before the first of its lines. */
export function Line({ n, line: { text, of, cut }, before, found, look }: { n: number; line: LogText; before?: Origin; found: boolean; look: LineLook }) {
  const json = look.raw ? undefined : readJSON(text), list: Span[] = json ? [...spans(json.message), ...spans(' ' + json.rest).map(({ text }) => ({ text, class: 'muted' }))] : spans(text);
  const word = json ? undefined : levelWord.exec(list.map((s) => s.text).join('').slice(0, 160)), level = json ? json.level : word ? levelOf(word[1] ?? word[2] ?? word[3]) : undefined;
  const [from, to] = look.marked, marked = n >= from && n <= to, err = of?.stream === 'stderr';
  return <div class={'log-line' + (marked ? ' marked' : '') + (found ? ' found' : '') + (err ? ' err' : '') + (level ? ' l-' + level : '')} data-n={n}>
    <a class="line-number" data-n={n} href={lineHref(n)} aria-label={`Line ${n}${err ? ', standard error' : ''}`} title={err ? 'Standard error' : undefined} tabIndex={-1} />
    {look.times && <time class="line-time" title={of?.time}>{of?.time && timeOf(of.time)}</time>}
    {look.run && <span class="line-step clip">{of && of.step !== before?.step && <A href={tabHref(look.run, 'logs', { step: of.step })} title={of.step}>{of.step}</A>}</span>}
    <span class="line-level" role={level && 'img'} aria-label={level}>{level && glyphs[level]}</span>
    <span class="line-text">{list.map((s, i) => s.class || s.style ? <span key={i} class={s.class} style={s.style}>{linked(s.text, look.find)}</span> : linked(s.text, look.find))}{cut && <i class="muted"> … the rest of this line is in the download</i>}{'\n'}</span>
  </div>;
}

/** Marks the line whose number was clicked, or the lines from the marked one to it. It is one listener for all lines. */
export function markLine(e: MouseEvent, [from, to]: LineLook['marked']) {
  const number = (e.target as HTMLElement).closest<HTMLElement>('a.line-number'), n = Number(number?.dataset.n);
  if (!number || e.metaKey || e.ctrlKey) return;
  e.preventDefault();
  setQuery({ line: e.shiftKey && from ? `${Math.min(from, n)}-${Math.max(from, n)}` : n >= from && n <= to ? null : n });
}

function lineHref(n: number): string {
  const q = new URLSearchParams(location.search);
  q.set('line', String(n));
  return location.pathname + '?' + q;
}

/** A text with its web addresses as links, and the words that were searched for marked. */
function linked(text: string, find: string): any {
  const parts = text.split(/(https?:\/\/[^\s<>"'`()]+[^\s<>"'`().,;:!?])/);
  return parts.length === 1 ? highlight(text, find) : parts.map((part, i) => (i % 2 ? <a key={i} href={part} target="_blank" rel="noreferrer">{highlight(part, find)}</a> : highlight(part, find)));
}

/** A text with the words that were searched for marked. */
function highlight(text: string, find: string): any {
  if (!find) return text;
  const lower = text.toLowerCase(), word = find.toLowerCase(), out: any[] = [];
  let at = 0;
  if (lower.length !== text.length) return text;
  for (let i = lower.indexOf(word); i >= 0; i = lower.indexOf(word, at)) {
    out.push(text.slice(at, i), <mark>{text.slice(i, i + word.length)}</mark>);
    at = i + word.length;
  }
  return out.length ? [...out, text.slice(at)] : text;
}
