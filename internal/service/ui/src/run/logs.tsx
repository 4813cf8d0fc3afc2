// The output of the steps: the steps on the left, the log of the chosen one, or of all, on the right.
import { useLayoutEffect, useRef } from 'preact/hooks';
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
import { Line, markLine, type LogText, type Origin } from './log_line';
import { tabHref, type RunView } from './page';
import { depth, lastPart, leavesOf } from './steps';

export const failedStates: State[] = ['failed', 'timed-out', 'interrupted'];

interface Part { attempt: number; stream: 'stdout' | 'stderr'; bytes: number }
export interface Lines { parts: Part[]; attempt?: number; stream?: Part['stream']; bytes?: number; total: number; open: boolean; from: number; lines: string[]; cut: number[]; settled?: number; origins?: Origin[] }

/** The lines that the page holds. */
interface Window { parts: Part[]; attempt?: number; total: number; open: boolean; settled: number; from: number; lines: LogText[] }

function windowOf(p: Lines): Window {
  const list = p.origins ?? [], cut = new Set(p.cut);
  let at = -1;
  return { ...p, settled: p.settled ?? p.total, lines: p.lines.map((text, i) => {
    while (at + 1 < list.length && list[at + 1].line <= p.from + i) at++;
    return { text, of: list[at], cut: cut.has(p.from + i) };
  }) };
}

/** The step of the log of the whole run. */
const all = '*';

const pageLines = 300, maxLines = 3000;

export function Logs(p: RunView) {
  const { id, run } = p, find = useSignal('');
  const wanted = run.steps.filter((s) => s.id.toLowerCase().includes(find.value.toLowerCase()));
  const asked = routed.value.query.get('step');
  const chosen = asked === all ? undefined : run.steps.find((s) => s.id === asked) ?? firstInteresting(run.steps);
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
      <div class="step-nav"><A href={tabHref(id, 'logs', { step: all })} aria-current={chosen ? undefined : 'true'}>All steps</A></div>
      <Virtual class="step-nav" label="Steps" count={wanted.length} height={30} show={at >= 0 ? at : undefined} row={(i) => {
        const s = wanted[i];
        return <div role="listitem" key={s.id}><A href={tabHref(id, 'logs', { step: s.id })} class="clip" title={s.id} aria-current={s.id === chosen?.id ? 'true' : undefined}
          style={{ paddingLeft: 8 + (find.value ? 0 : Math.min(depth(s.id), 6) * 14) + 'px' }}>
          <Glyph state={s.status} size={14} /> {find.value ? s.id : lastPart(s.id)}<span class="sr-only">, {word(s.status)}</span></A></div>;
      }} />
    </div>
    <Viewer key={chosen?.id} view={p} step={chosen} />
  </div>;
}

/** The step that somebody wants to see: one that failed, or that runs, or the last one that ran. */
export function firstInteresting(steps: StepDoc[]): StepDoc | undefined {
  const leaves = leavesOf(steps);
  for (const states of [failedStates, ['running', 'retrying']]) {
    const s = leaves.find((o) => states.includes(o.status));
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

/** The log of one step, or of all: a window of lines that moves over a log of any size. */
function Viewer({ view: { id, run }, step }: { view: RunView; step?: StepDoc }) {
  const q = routed.value.query;
  const attempt = q.get('try') ?? '', stream = q.get('stream') ?? '', [line = 0, lastLine = line] = (q.get('line') ?? '').split('-').map((n) => Number(n) || 0);
  const win = useSignal<Window | undefined>(undefined), problem = useSignal<ApiError | undefined>(undefined);
  const wrap = useKept('wrap'), times = useKept('times'), raw = useKept('raw'), follow = useSignal(line === 0);
  const box = useRef<HTMLDivElement>(null), part = { step: step?.id, attempt, stream };
  const reads = useRef({ latest: 0, busy: false, again: false }).current;
  const path = `/runs/${encodeURIComponent(id)}/lines`;
  const live = step ? !settled(step.status) && step.status !== 'pending' || run.status === 'running' && !step.ended : !settled(run.status);

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
      const page = windowOf(await get<Lines>(path, { ...part, merged: 1, from, limit }));
      if (mine !== reads.latest) return;
      const el = box.current, w = win.value, below = el ? el.scrollHeight - el.scrollTop : 0;
      problem.value = undefined;
      if (how === 'new' || !w) win.value = page;
      else if (how === 'before') {
        const lines = page.lines.slice(0, w.from - page.from).concat(w.lines).slice(0, maxLines);
        win.value = { ...page, lines };
        if (el) requestAnimationFrame(() => { el.scrollTop = el.scrollHeight - below; });
      } else {
        const kept = w.lines.slice(0, page.from - w.from).concat(page.lines), drop = Math.max(0, kept.length - maxLines);
        win.value = { ...page, from: w.from + drop, lines: kept.slice(drop) };
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
  const more = () => { // from the first line that may still change
    const w = win.value, end = last(), from = w && atEnd() ? Math.max(w.from, end - 1000, Math.min(end + (w.open ? 0 : 1), w.settled + 1)) : end + 1;
    return read(from, 'after', end + 1 - from + pageLines);
  };
  const goTo = (n: number) => {
    follow.value = false;
    if (win.value && n >= win.value.from && n <= last()) return show(n);
    read(Math.max(1, n - 100), 'new').then(() => show(n));
  };
  const show = (n: number) => requestAnimationFrame(() => {
    const el = box.current, row = el?.querySelector<HTMLElement>(`[data-n="${n}"]`);
    if (row) el!.scrollTop = row.offsetTop - el!.offsetTop - el!.clientHeight / 3;
  });

  useLayoutEffect(() => {
    win.value = undefined;
    if (line > 0) goTo(line);
    else tail();
  }, [step?.id, attempt, stream]);
  useLayoutEffect(() => { if (line > 0 && win.value) goTo(line); }, [line]);
  useLayoutEffect(() => { // reads on while the step runs, and once more when it has ended
    if (!live) { if (win.value && atEnd()) more(); return; }
    const timer = setInterval(() => { if (!document.hidden && atEnd()) more(); }, 700);
    return () => clearInterval(timer);
  }, [live, step?.id, attempt, stream]);
  useLayoutEffect(() => { if (follow.value && box.current) box.current.scrollTop = box.current.scrollHeight; }, [win.value, follow.value, wrap.value, times.value]);
  const onScroll = () => {
    const el = box.current, w = win.value;
    if (!w || !el) return; // a list that is gone can still have been scrolled
    follow.value = atEnd() && el.scrollTop + el.clientHeight >= el.scrollHeight - 30;
    if (el.scrollTop < 200 && w.from > 1) read(Math.max(1, w.from - pageLines), 'before', Math.min(pageLines, w.from - 1));
    else if (!atEnd() && el.scrollTop + el.clientHeight > el.scrollHeight - 200) more();
  };
  useKeys([
    { keys: 'G', does: 'End of the log', run: () => { follow.value = true; tail(); } },
    { keys: 'g g', does: 'Beginning of the log', run: () => goTo(1) },
    { keys: 'w', does: 'Wrap lines', run: wrap.toggle },
    { keys: 'T', does: 'Times of lines', run: times.toggle },
  ]);
  const w = win.value, attempts = [...new Set(w?.parts.map((p) => p.attempt))];
  const shown = w?.attempt ?? (Number(attempt) || step?.attempts || 1);
  const search = useSearch(id, { step: step?.id ?? '', attempt: String(w?.attempt ?? ''), stream, merged: '1' }, goTo);
  const look = { times: times.value, raw: raw.value, marked: [line, lastLine] as [number, number], find: search.text.value, run: step ? undefined : id };
  const toggle = (o: typeof wrap, text: string) => <Button kind="quiet" aria-pressed={o.value} onClick={o.toggle}>{text}</Button>;
  return <section class="log" aria-label={`Log of ${step?.id ?? 'all steps'}`}>
    <div class="log-bar">
      {step ? <span class="clip" title={step.id}><Glyph state={step.status} /> <strong>{step.id}</strong> <span class="muted">{word(step.status)}{step.exit_code ? `, exit code ${step.exit_code}` : ''}</span></span> : <strong class="clip">All steps</strong>}
      {attempts.length > 1 && <select aria-label="Attempt" value={shown} onChange={(e: any) => setQuery({ try: e.currentTarget.value, line: null })}>
        {attempts.map((n) => <option key={n} value={n} selected={n === shown}>Attempt {n}</option>)}</select>}
      <div class="segments" role="group" aria-label="Stream">{['', 'stdout', 'stderr'].map((name) => {
        const part = w?.parts.find((p) => p.attempt === shown && p.stream === name);
        return <button type="button" key={name} aria-pressed={stream === name} disabled={!!name && !!step && !part} onClick={() => setQuery({ stream: name, line: null })}>{name || 'Both'} {part && <span class="muted">{bytes(part.bytes)}</span>}</button>;
      })}</div>
      <div class="actions">{step && <RetryFrom run={run} step={step.id} />}
        {toggle(times, 'Times')}{toggle(raw, 'Raw')}{toggle(wrap, 'Wrap')}
        <a class="button quiet" download href={url(`/runs/${encodeURIComponent(id)}/logs`, { ...part, attempt: w?.attempt, download: 1 })}>Download</a></div>
    </div>
    <div class="log-bar find">
      <input data-search type="search" aria-label="Search the log" placeholder="Search the log" value={search.text.value} onInput={(e: any) => search.set(e.currentTarget.value)}
        onKeyDown={(e: KeyboardEvent) => { if (e.key === 'Enter') { e.preventDefault(); search.step(e.shiftKey ? -1 : 1); } }} />
      {search.text.value && <><span class="muted" role="status">{search.says()}</span>
        <Button kind="quiet" aria-label="Previous match" onClick={() => search.step(-1)}>↑</Button><Button kind="quiet" aria-label="Next match" onClick={() => search.step(1)}>↓</Button></>}
      <span class="actions muted">{w && w.total > 0 && <>{count(w.total, 'line')}{live && !problem.value && <span class="live"><i class="dot" /> live</span>}</>}</span>
    </div>
    {problem.value && <Problem error={problem.value} retry={w ? more : tail} />}
    {(w || !problem.value) && <div class={wrap.value ? 'lines wrap' : 'lines'} ref={box} onScroll={onScroll} onClick={(e) => markLine(e, look.marked)} tabIndex={0} role="region" aria-label="Lines">
        {w && w.total === 0 && <Empty>{step?.status === 'pending' ? 'The step has not started.' : live ? 'Nothing has been printed so far.' : 'Nothing was printed here.'}</Empty>}
        {w && w.from > 1 && <div class="edge">Lines before {w.from.toLocaleString('en')} are read when you scroll up. <Button kind="quiet" onClick={() => goTo(1)}>Go to the first line</Button></div>}
        {w?.lines.map((l, i) => <Line key={w.from + i} n={w.from + i} line={l} before={w.lines[i - 1]?.of} found={search.current() === w.from + i} look={look} />)}
        {w && last() < w.total && <div class="edge">{count(w.total - last(), 'more line')} <Button kind="quiet" onClick={() => { follow.value = true; tail(); }}>Go to the end</Button></div>}
      </div>}
  </section>;
}

/** A switch that the browser remembers. */
function useKept(name: string) {
  const on = useSignal(localStorage.getItem(name) === '1');
  return { get value() { return on.value; }, toggle: () => { on.value = !on.value; localStorage.setItem(name, on.value ? '1' : '0'); } };
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
  useLayoutEffect(() => { if (text.value) run(text.value); }, [part.step, part.attempt, part.stream]);
  useLayoutEffect(() => () => abort.current?.abort(), []);
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
