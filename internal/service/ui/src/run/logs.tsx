// The output of the steps: the steps on the left, the log of the chosen one on the right.
import { useEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { get, toError, url, type ApiError } from '../api';
import { bytes, count } from '../format';
import { useKeys } from '../keys';
import { announcement, Button, Empty, Problem } from '../parts';
import { A, routed, setQuery } from '../router';
import { Glyph, settled, word, type State } from '../status';
import type { StepDoc } from '../types';
import { Virtual } from '../virtual';
import { RetryFrom } from './actions';
import { spans } from './ansi';
import { tabHref, type RunView } from './page';
import { depth, lastPart } from './steps';

export const failedStates: State[] = ['failed', 'timed-out', 'interrupted'];

interface Part { attempt: number; stream: 'stdout' | 'stderr'; bytes: number }
export interface Lines { parts: Part[]; attempt?: number; stream?: Part['stream']; bytes?: number; total: number; open: boolean; from: number; lines: string[]; cut: number[] }

const pageLines = 500, maxLines = 3000;

export function Logs(p: RunView) {
  const { id, run } = p, find = useSignal('');
  const wanted = run.steps.filter((s) => s.id.toLowerCase().includes(find.value.toLowerCase()));
  const asked = routed.value.query.get('step');
  const chosen = run.steps.find((s) => s.id === asked) ?? firstInteresting(run.steps);
  const at = wanted.findIndex((s) => s === chosen || s.id === chosen?.id);
  const open = (by: number) => {
    const s = wanted[Math.max(0, Math.min(wanted.length - 1, at + by))];
    if (s) { setQuery({ step: s.id, try: null, stream: null, line: null }); announcement.value = `${s.id}, ${word(s.status)}`; }
  };
  useKeys([{ keys: 'j', does: 'Next step', run: () => open(1) }, { keys: 'k', does: 'Previous step', run: () => open(-1) }]);
  if (run.steps.length === 0) return <Empty>The run has no steps yet.</Empty>;
  return <div class="logs">
    <div class="log-steps">
      <input type="search" aria-label="Find steps" placeholder="Find steps" value={find.value} onInput={(e: any) => { find.value = e.currentTarget.value; }} />
      <Virtual class="step-nav" label="Steps" count={wanted.length} height={30} show={at >= 0 ? at : undefined} row={(i) => {
        const s = wanted[i];
        return <div role="listitem" key={s.id}><A href={tabHref(id, 'logs', { step: s.id })} class="clip" title={s.id} aria-current={s.id === chosen?.id ? 'true' : undefined}
          style={{ paddingLeft: 8 + (find.value ? 0 : Math.min(depth(s.id), 6) * 14) + 'px' }}>
          <Glyph state={s.status} size={14} /> {find.value ? s.id : lastPart(s.id)}<span class="sr-only">, {word(s.status)}</span></A></div>;
      }} />
    </div>
    {chosen && <Viewer key={chosen.id} view={p} step={chosen} />}
  </div>;
}

/** The step that somebody wants to see: one that failed, or that runs, or the last one that ran. */
export function firstInteresting(steps: StepDoc[]): StepDoc | undefined {
  const leaf = (s: StepDoc) => !steps.some((o) => o.id.startsWith(s.id + '/') || o.id.startsWith(s.id + '['));
  for (const states of [failedStates, ['running', 'retrying']]) {
    const s = steps.filter((o) => states.includes(o.status)).find(leaf);
    if (s) return s;
  }
  return steps.filter((s) => settled(s.status) && s.attempts > 0).at(-1) ?? steps[0];
}

/** Reads the last lines of a step: of its standard error, if it printed any. */
export async function readEnd(id: string, step: string, limit: number, abort?: AbortSignal): Promise<Lines> {
  const path = `/runs/${encodeURIComponent(id)}/lines`, query = { step, from: 1 - limit, limit };
  const page = await get<Lines>(path, query, abort);
  return page.stream === 'stdout' && hasErrors(page) ? get<Lines>(path, { ...query, stream: 'stderr' }, abort) : page;
}

/** Whether the attempt of a page of lines wrote to its standard error. */
const hasErrors = (page: Lines) => page.parts.some((o) => o.attempt === page.attempt && o.stream === 'stderr');

/** The log of one step: a window of lines that moves over a log of any size. */
function Viewer({ view: { id, run }, step }: { view: RunView; step: StepDoc }) {
  const q = routed.value.query;
  const attempt = q.get('try') ?? '', stream = q.get('stream') ?? '', line = Number(q.get('line')) || 0;
  const win = useSignal<Lines | undefined>(undefined), problem = useSignal<ApiError | undefined>(undefined);
  const wrap = useSignal(localStorage.getItem('wrap') === '1'), follow = useSignal(line === 0);
  const box = useRef<HTMLDivElement>(null), part = { step: step.id, attempt, stream };
  const reads = useRef({ latest: 0, busy: false, again: false }).current;
  const path = `/runs/${encodeURIComponent(id)}/lines`, failed = failedStates.includes(step.status);
  const live = !settled(step.status) && step.status !== 'pending' || run.status === 'running' && !step.ended;

  // Reads lines and puts them into the window: instead of what is there, before it or after it.
  // A new window replaces what is still being read; otherwise there is one request at a time.
  const read = async (from: number, how: 'new' | 'before' | 'after', limit = pageLines) => {
    if (reads.busy && how !== 'new') {
      reads.again ||= how === 'after';
      return;
    }
    const mine = ++reads.latest;
    reads.busy = true;
    reads.again = false;
    try {
      const page = await get<Lines>(path, { ...part, from, limit });
      if (mine !== reads.latest) return;
      const el = box.current, w = win.value, below = el ? el.scrollHeight - el.scrollTop : 0;
      problem.value = undefined;
      if (how === 'new' && failed && !q.get('stream') && page.stream === 'stdout' && hasErrors(page)) setQuery({ stream: 'stderr' });
      else if (how === 'new' || !w) win.value = page;
      else if (how === 'before') {
        const lines = page.lines.slice(0, w.from - page.from).concat(w.lines).slice(0, maxLines);
        win.value = { ...page, lines, cut: page.cut.concat(w.cut) };
        if (el) requestAnimationFrame(() => { el.scrollTop = el.scrollHeight - below; });
      } else {
        const kept = w.lines.slice(0, page.from - w.from).concat(page.lines), drop = Math.max(0, kept.length - maxLines);
        win.value = { ...page, from: w.from + drop, lines: kept.slice(drop), cut: w.cut.concat(page.cut) };
      }
    } catch (e) {
      if (mine === reads.latest) problem.value = toError(e);
    }
    if (mine !== reads.latest) return;
    reads.busy = false;
    if (reads.again && atEnd()) more();
  };
  const last = () => (win.value ? win.value.from + win.value.lines.length - 1 : 0);
  const atEnd = () => !win.value || last() >= win.value.total;
  const tail = () => read(-(pageLines - 1), 'new');
  const more = () => read(last() + (win.value?.open && atEnd() ? 0 : 1), 'after');
  const goTo = (n: number) => {
    follow.value = false;
    if (win.value && n >= win.value.from && n <= last()) return show(n);
    read(Math.max(1, n - 100), 'new').then(() => show(n));
  };
  const show = (n: number) => requestAnimationFrame(() => {
    const el = box.current, row = el?.querySelector<HTMLElement>(`[data-n="${n}"]`);
    if (row) el!.scrollTop = row.offsetTop - el!.offsetTop - el!.clientHeight / 3;
  });

  useEffect(() => {
    win.value = undefined;
    if (line > 0) goTo(line);
    else tail();
  }, [step.id, attempt, stream]);
  useEffect(() => { if (line > 0 && win.value) goTo(line); }, [line]);
  useEffect(() => { // reads on while the step runs, and once more when it has ended
    if (!live) { if (win.value && atEnd()) more(); return; }
    const timer = setInterval(() => { if (!document.hidden && atEnd()) more(); }, 700);
    return () => clearInterval(timer);
  }, [live, step.id, attempt, stream]);
  useEffect(() => { if (follow.value && box.current) box.current.scrollTop = box.current.scrollHeight; }, [win.value, follow.value, wrap.value]);
  const onScroll = () => {
    const el = box.current!, w = win.value;
    if (!w) return;
    follow.value = atEnd() && el.scrollTop + el.clientHeight >= el.scrollHeight - 30;
    if (el.scrollTop < 200 && w.from > 1) read(Math.max(1, w.from - pageLines), 'before', Math.min(pageLines, w.from - 1));
    else if (!atEnd() && el.scrollTop + el.clientHeight > el.scrollHeight - 200) more();
  };
  useKeys([
    { keys: 'G', does: 'End of the log', run: () => { follow.value = true; tail(); } },
    { keys: 'g g', does: 'Beginning of the log', run: () => goTo(1) },
    { keys: 'w', does: 'Wrap lines', run: () => toggleWrap() },
  ]);
  const toggleWrap = () => { wrap.value = !wrap.value; localStorage.setItem('wrap', wrap.value ? '1' : '0'); };
  const w = win.value, attempts = [...new Set(w?.parts.map((p) => p.attempt))];
  const shown = w?.attempt ?? (Number(attempt) || step.attempts || 1);
  const search = useSearch(id, { step: step.id, attempt: String(w?.attempt ?? ''), stream: w?.stream ?? '' }, goTo);
  return <section class="log" aria-label={`Log of ${step.id}`}>
    <div class="log-bar">
      <span class="clip" title={step.id}><Glyph state={step.status} /> <strong>{step.id}</strong> <span class="muted">{word(step.status)}{step.exit_code ? `, exit code ${step.exit_code}` : ''}</span></span>
      {attempts.length > 1 && <select aria-label="Attempt" value={shown} onChange={(e: any) => setQuery({ try: e.currentTarget.value, line: null })}>
        {attempts.map((n) => <option key={n} value={n} selected={n === shown}>Attempt {n}</option>)}</select>}
      <div class="segments" role="group" aria-label="Stream">{(['stdout', 'stderr'] as const).map((name) => {
        const part = w?.parts.find((p) => p.attempt === shown && p.stream === name);
        return <button type="button" key={name} aria-pressed={w?.stream === name} disabled={!part} onClick={() => setQuery({ stream: name, line: null })}>{name} {part && <span class="muted">{bytes(part.bytes)}</span>}</button>;
      })}</div>
      <div class="actions"><RetryFrom run={run} step={step.id} />
        <Button kind="quiet" aria-pressed={wrap.value} onClick={toggleWrap}>{wrap.value ? 'Do not wrap' : 'Wrap'}</Button>
        <a class="button quiet" download href={url(`/runs/${encodeURIComponent(id)}/logs`, { ...part, attempt: w?.attempt, stream: w?.stream, download: 1 })}>Download</a></div>
    </div>
    <div class="log-bar find">
      <input data-search type="search" aria-label="Search the log" placeholder="Search the log" value={search.text.value} onInput={(e: any) => search.set(e.currentTarget.value)}
        onKeyDown={(e: KeyboardEvent) => { if (e.key === 'Enter') { e.preventDefault(); search.step(e.shiftKey ? -1 : 1); } }} />
      {search.text.value && <><span class="muted" role="status">{search.says()}</span>
        <Button kind="quiet" aria-label="Previous match" onClick={() => search.step(-1)}>↑</Button><Button kind="quiet" aria-label="Next match" onClick={() => search.step(1)}>↓</Button></>}
      <span class="actions muted">{w && w.total > 0 && <>{count(w.total, 'line')}{live && !problem.value && <span class="live"><i class="dot" /> live</span>}</>}</span>
    </div>
    {problem.value && <Problem error={problem.value} retry={w ? more : tail} />}
    {(w || !problem.value) && <div class={wrap.value ? 'lines wrap' : 'lines'} ref={box} onScroll={onScroll} tabIndex={0} role="region" aria-label="Lines">
        {w && w.total === 0 && <Empty>{step.status === 'pending' ? 'The step has not started.' : live ? 'The step has printed nothing so far.' : 'The step printed nothing itself.'}</Empty>}
        {w && w.from > 1 && <div class="edge">Lines before {w.from.toLocaleString('en')} are read when you scroll up. <Button kind="quiet" onClick={() => goTo(1)}>Go to the first line</Button></div>}
        {w?.lines.map((text, i) => <Line key={w.from + i} n={w.from + i} text={text} cut={w.cut.includes(w.from + i)} marked={w.from + i === line} found={search.current() === w.from + i} find={search.text.value} />)}
        {w && last() < w.total && <div class="edge">{count(w.total - last(), 'more line')} <Button kind="quiet" onClick={() => { follow.value = true; tail(); }}>Go to the end</Button></div>}
      </div>}
  </section>;
}

function Line({ n, text, cut, marked, found, find }: { n: number; text: string; cut: boolean; marked: boolean; found: boolean; find: string }) {
  return <div class={'log-line' + (marked ? ' marked' : '') + (found ? ' found' : '')} data-n={n}>
    <a class="line-number" data-n={n} href={lineHref(n)} aria-label={`Line ${n}`} tabIndex={-1} onClick={(e) => { if (!e.metaKey && !e.ctrlKey) { e.preventDefault(); setQuery({ line: marked ? null : n }); } }} />
    <span class="line-text">{spans(text).map((s, i) => s.class || s.style ? <span key={i} class={s.class} style={s.style}>{linked(s.text, find)}</span> : linked(s.text, find))}{cut && <i class="muted"> … the rest of this line is in the download</i>}{'\n'}</span>
  </div>;
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

/** Searches the whole log in the service, part by part. */
function useSearch(id: string, part: Record<string, string>, goTo: (line: number) => void) {
  const text = useSignal(''), found = useSignal<number[]>([]), at = useSignal(-1), more = useSignal(false);
  const abort = useRef<AbortController | undefined>(undefined), timer = useRef(0);
  const run = async (want: string) => {
    abort.current?.abort();
    const a = (abort.current = new AbortController());
    found.value = [];
    at.value = -1;
    more.value = want !== '';
    let next = 1;
    try {
      while (want && next && found.value.length < 5000) {
        const r = await get<{ matches: { line: number }[]; next?: number }>(`/runs/${encodeURIComponent(id)}/search`, { ...part, text: want, from: next, limit: 5000 }, a.signal);
        const first = found.value.length === 0 && r.matches.length > 0;
        found.value = found.value.concat(r.matches.map((m) => m.line));
        if (first) { at.value = 0; goTo(found.value[0]); }
        next = r.next ?? 0;
      }
      more.value = next > 0 && want !== '';
    } catch { /* a newer search, or the log is gone */ }
    if (!a.signal.aborted && want) announcement.value = count(found.value.length, 'line') + ' found';
    if (!next) more.value = false;
  };
  useEffect(() => { if (text.value) run(text.value); }, [part.step, part.attempt, part.stream]);
  useEffect(() => () => abort.current?.abort(), []);
  return {
    text,
    set: (want: string) => { text.value = want; clearTimeout(timer.current); timer.current = setTimeout(() => run(want), 250); },
    step: (by: number) => {
      const n = found.value.length;
      if (!n) return;
      at.value = (at.value + by + n) % n;
      goTo(found.value[at.value]);
    },
    current: () => found.value[at.value] ?? 0,
    says: () => (found.value.length ? `${at.value + 1} of ${found.value.length}${more.value ? '+' : ''}` : more.value ? 'Searching …' : 'Not found'),
  };
}
