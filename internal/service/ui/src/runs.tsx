// The list of runs. All filters are in the address.
import './runs.css';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { signal, useSignal } from '@preact/signals';
import { get, mayOperate, send, toError, useResource } from './api';
import { count, serviceNow } from './format';
import { useKeys } from './keys';
import { announcement, Button, Dialog, Empty, LinkButton, Load, Page, toast } from './parts';
import { navigate, pathOf, routed, setQuery } from './router';
import { RunTable } from './run_table';
import { Glyph, settled, word, type State } from './status';
import { useChanges } from './stream';
import type { RunList, RunRow } from './types';

const pageSize = 50;
const filterStates: State[] = ['running', 'pending', 'waiting', 'succeeded', 'failed', 'timed-out', 'interrupted', 'cancelled'];
/** The choices of a time until now. */
export const ages: Record<string, [text: string, ms: number]> = {
  '1h': ['Last hour', 3_600_000], '24h': ['Last 24 hours', 86_400_000], '7d': ['Last 7 days', 7 * 86_400_000], '30d': ['Last 30 days', 30 * 86_400_000],
};
const origins: [value: string, text: string][] = [['', 'Any trigger'], ['cli', 'Command line'], ['api', 'API'], ['schedule', 'Schedules'], ['backfill', 'Backfills'], ['file', 'Files'], ['after', 'Other tools'], ['webhook', 'Webhooks'], ['mcp', 'MCP'], ['call', 'Models'], ['detach', 'Detached']];

/** The words of the search: label:NAME=value or label:NAME is a label, NAME=value a parameter, other words are the beginning of an id. */
function searchWords(text: string): { id: string; param: string[]; label: string[] } {
  const words = (text.match(/[^\s=]+="[^"]*"|\S+/g) ?? []).map((w) => w.replace(/^([^=]+)="([^"]*)"$/, '$1=$2'));
  const label = words.filter((w) => w.startsWith('label:')), others = words.filter((w) => !w.startsWith('label:'));
  return {
    id: others.find((w) => !w.includes('=')) ?? '',
    param: others.filter((w) => w.includes('=')),
    label: label.map((w) => w.slice('label:'.length)).filter(Boolean),
  };
}

function filters(q: URLSearchParams) {
  const age = ages[q.get('age') ?? ''];
  return {
    status: q.getAll('status').flatMap((s) => s.split(',')).filter(Boolean), tool: q.get('tool'), tag: q.get('tag'), origin: q.get('origin'),
    since: age ? new Date(serviceNow() - age[1]).toISOString() : q.get('since'), until: q.get('until'), before: q.get('before'),
    ...searchWords(q.get('q') ?? ''),
  };
}

/** Reads a page. A request does limited work, so it can take several until the page is full. */
async function readPage(q: URLSearchParams, abort: AbortSignal, progress: (found: number) => void): Promise<RunList> {
  const query = { ...filters(q), limit: pageSize, params: 1 };
  const runs: RunRow[] = [];
  for (;;) {
    const page = await get<RunList>('/runs', { ...query, limit: pageSize - runs.length }, abort);
    runs.push(...page.runs);
    if (!page.next || runs.length >= pageSize) return { runs, next: page.next };
    query.before = page.next;
    progress(runs.length);
  }
}

export function Runs() {
  const q = routed.value.query;
  const searching = useSignal(-1);
  const key = ['status', 'tool', 'tag', 'origin', 'age', 'since', 'until', 'before', 'q'].map((n) => q.getAll(n));
  const list = useResource(async (abort) => {
    const page = await readPage(q, abort, (n) => { searching.value = n; });
    searching.value = -1;
    announcement.value = count(page.runs.length, 'run') + (page.next ? ', and older ones' : '');
    return page;
  }, key);
  useChanges(list.reload, (e) => e.kind.startsWith('run.') || e.kind === 'step.waiting', 1500);

  const selected = useSignal(new Set<string>()), current = useSignal(-1), bulk = useSignal('');
  useLayoutEffect(() => { selected.value = new Set(); current.value = -1; }, [JSON.stringify(key)]);
  const runs = list.data.value?.runs ?? [];
  const toggle = (id: string) => {
    const s = new Set(selected.value);
    if (!s.delete(id)) s.add(id);
    selected.value = s;
  };
  const move = (by: number) => {
    current.value = Math.max(0, Math.min(runs.length - 1, current.value + by));
    const r = runs[current.value];
    if (r) announcement.value = `${r.tool}, ${word(r.status)}, run ${r.id}`;
  };
  useKeys([
    { keys: 'j', does: 'Next run', run: () => move(1) },
    { keys: 'k', does: 'Previous run', run: () => move(-1) },
    { keys: 'Enter', does: 'Open the run', run: () => { const r = runs[current.value]; if (r) navigate(pathOf('runs', r.id)); } },
    { keys: 'x', does: 'Select the run', run: () => { const r = runs[current.value]; if (r && mayOperate()) toggle(r.id); } },
  ]);
  const chosen = runs.filter((r) => selected.value.has(r.id));
  const next = list.data.value?.next;

  return <Page title="Runs">
    <Filters />
    {chosen.length > 0 && <div class="bulk" role="region" aria-label="Selected runs">
      <strong>{count(chosen.length, 'run')} selected</strong>
      <Button onClick={() => { bulk.value = 'cancel'; }} disabled={!chosen.some((r) => !settled(r.status))}>Cancel</Button>
      <Button onClick={() => { bulk.value = 'retry'; }} disabled={!chosen.some((r) => settled(r.status))}>Retry</Button>
      {chosen.length === 2 && <LinkButton href={`${pathOf('runs', chosen[0].id, 'changes')}?with=${chosen[1].id}`}>Compare</LinkButton>}
      <Button kind="quiet" aria-label="Clear the selection" title="Clear the selection" onClick={() => { selected.value = new Set(); }}>×</Button>
    </div>}
    <div class="section">
      <Load from={list}>{(data) => data.runs.length === 0
        ? <Empty>{key.some((k) => k.length) ? 'No run matches these filters.' : <>Nothing has run yet. Start a tool here, or with <code>flowrun run</code>.</>}</Empty>
        : <RunTable runs={data.runs} current={current.value} selected={mayOperate() ? selected.value : undefined} toggle={toggle}
          toggleAll={() => { selected.value = new Set(data.runs.every((r) => selected.value.has(r.id)) ? [] : data.runs.map((r) => r.id)); }} />}</Load>
      {searching.value >= 0 && list.busy.value && <div class="loading" role="status">Searching older runs … {searching.value || 'none'} found so far</div>}
    </div>
    {(next || q.has('before')) && <nav class="pages" aria-label="More runs">
      {q.has('before') && <Button onClick={() => setQuery({ before: null }, { replace: false })}>Newest runs</Button>}
      {next && <Button onClick={() => { setQuery({ before: next }, { replace: false }); scrollTo(0, 0); }}>Older runs</Button>}
    </nav>}
    {bulk.value && <Bulk action={bulk.value} runs={chosen.filter((r) => settled(r.status) === (bulk.value === 'retry'))}
      close={() => { bulk.value = ''; selected.value = new Set(); list.reload(); }} />}
  </Page>;
}

/** An input that keeps what somebody is typing, also when the page is shown again. */
export function Typed({ value, ...rest }: { value: string; [name: string]: any }) {
  const ref = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => { if (document.activeElement !== ref.current) ref.current!.value = value; }, [value]);
  return <input ref={ref} {...rest} />;
}

function Filters() {
  const q = routed.value.query;
  const tools = useResource((abort) => get<{ tools: { name: string; tags: string[] }[] }>('/tools', {}, abort));
  const names = tools.data.value?.tools ?? [];
  const states = new Set(filters(q).status);
  const set = (name: string) => (e: any) => setQuery({ [name]: e.currentTarget.value.trim(), before: null });
  const timer = useRef(0);
  const typed = (name: string) => (e: any) => {
    const value = e.currentTarget.value.trim();
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setQuery({ [name]: value, before: null }), 350);
  };
  const origin = q.get('origin') ?? '';
  const active = ['status', 'tool', 'tag', 'origin', 'age', 'since', 'until', 'q'].some((n) => q.has(n));
  return <form class="filters" role="search" aria-label="Filter the runs" onSubmit={(e) => e.preventDefault()}>
    <div class="row">
      <Typed data-search class="grow" type="search" aria-label="Run id, NAME=value of a parameter, or label:NAME=value" placeholder="Run id, NAME=value, or label:NAME=value" value={q.get('q') ?? ''} onInput={typed('q')} />
      <Typed type="search" list="tool-names" aria-label="Tool" placeholder="Tool" value={q.get('tool') ?? ''} onInput={typed('tool')} />
      <datalist id="tool-names">{names.map((t) => <option key={t.name} value={t.name} />)}</datalist>
      <select aria-label="Tag" value={q.get('tag') ?? ''} onChange={set('tag')}>
        <option value="">Any tag</option>{[...new Set([...names.flatMap((t) => t.tags), q.get('tag') ?? ''])].filter(Boolean).sort().map((t) => <option key={t} value={t}>{t}</option>)}
      </select>
      <select aria-label="Trigger" value={origin} onChange={set('origin')}>
        {origins.map(([v, text]) => <option key={v} value={v}>{text}</option>)}
        {!origins.some(([v]) => v === origin) && <option value={origin}>{origin}</option>}
      </select>
      <Times />
      {active && <Button kind="quiet" onClick={() => navigate('/runs')}>Clear</Button>}
      <Views active={active} />
    </div>
    <div class="row chips" role="group" aria-label="Status">
      {filterStates.map((s) => <button type="button" key={s} class="chip" aria-pressed={states.has(s)}
        onClick={() => { if (!states.delete(s)) states.add(s); setQuery({ status: [...states].join(','), before: null }); }}><Glyph state={s} size={14} />{word(s)}</button>)}
    </div>
  </form>;
}

const saved = signal<Record<string, string>>(JSON.parse(localStorage.getItem('views') ?? '{}'));

/** Filters that were saved under a name, in this browser. */
function Views({ active }: { active: boolean }) {
  const q = routed.value.query, adding = useSignal(false), name = useSignal('');
  const query = new URLSearchParams([...q].filter(([n]) => n !== 'before')).toString();
  const known = Object.entries(saved.value).find(([, v]) => v === query)?.[0];
  const set = (views: Record<string, string>) => { saved.value = views; localStorage.setItem('views', JSON.stringify(views)); };
  return <>
    {Object.keys(saved.value).length > 0 && <select aria-label="Saved view" value={known ?? ''} onChange={(e: any) => navigate('/runs?' + (saved.value[e.currentTarget.value] ?? ''))}>
      <option value="">Saved views …</option>{Object.keys(saved.value).sort().map((n) => <option key={n} value={n} selected={n === known}>{n}</option>)}</select>}
    {known ? <Button kind="quiet" onClick={() => { const { [known]: _, ...rest } = saved.value; set(rest); }}>Forget this view</Button>
      : active && <Button kind="quiet" onClick={() => { adding.value = true; }}>Save this view</Button>}
    {adding.value && <Dialog title="Save this view" onClose={() => { adding.value = false; }}>
      <form method="dialog" onSubmit={(e: Event) => { e.preventDefault(); set({ ...saved.value, [name.value.trim()]: query }); adding.value = false; }}>
        <label>Name <input required pattern=".*\S.*" value={name.value} onInput={(e: any) => { name.value = e.currentTarget.value; }} /></label>
        <div class="actions"><Button onClick={() => { adding.value = false; }}>Back</Button><Button kind="primary" type="submit">Save</Button></div>
      </form></Dialog>}
  </>;
}

/** The time range: an age, or two times. */
export function Times() {
  const q = routed.value.query;
  const custom = useSignal(q.has('since') || q.has('until'));
  const local = (name: string) => {
    const t = q.get(name);
    return t ? new Date(Date.parse(t) - new Date().getTimezoneOffset() * 60_000).toISOString().slice(0, 16) : '';
  };
  const set = (name: string) => (e: any) => setQuery({ [name]: e.currentTarget.value && new Date(e.currentTarget.value).toISOString(), age: null, before: null });
  return <>
    <select aria-label="Time" value={custom.value ? 'custom' : q.get('age') ?? ''} onChange={(e: any) => {
      custom.value = e.currentTarget.value === 'custom';
      setQuery({ age: custom.value ? null : e.currentTarget.value, since: null, until: null, before: null });
    }}>
      <option value="">Any time</option>
      {Object.entries(ages).map(([v, [text]]) => <option key={v} value={v}>{text}</option>)}
      <option value="custom">Between …</option>
    </select>
    {custom.value && <>
      <input type="datetime-local" aria-label="Started at or after" value={local('since')} onChange={set('since')} />
      <input type="datetime-local" aria-label="Started before" value={local('until')} onChange={set('until')} />
    </>}
  </>;
}

/** Cancels or retries several runs, one after the other. */
function Bulk({ action, runs, close }: { action: string; runs: RunRow[]; close(): void }) {
  const done = useSignal(-1), failures = useSignal<string[]>([]);
  const go = async () => {
    done.value = 0;
    for (const r of runs) {
      try {
        await send('POST', `/runs/${encodeURIComponent(r.id)}/${action}`, {});
      } catch (e) {
        failures.value = [...failures.value, `${r.tool} ${r.id}: ${toError(e).message}`];
      }
      done.value++;
    }
    if (failures.value.length === 0) {
      toast(`${count(runs.length, 'run')} ${action === 'cancel' ? 'asked to stop' : 'retried'}`);
      close();
    }
  };
  const title = action === 'cancel' ? `Cancel ${count(runs.length, 'run')}` : `Retry ${count(runs.length, 'run')}`;
  const over = done.value === runs.length;
  return <Dialog title={title} onClose={close}>
    <p>{action === 'cancel' ? 'Their steps are stopped. Cleanup still runs.' : 'A new run starts for each of them. It reuses the results of the steps that succeeded.'}</p>
    <ul class="bulk-list">{runs.slice(0, 12).map((r) => <li key={r.id}><Glyph state={r.status} size={14} /> {r.tool} <code class="muted">{r.id}</code></li>)}
      {runs.length > 12 && <li class="muted">and {runs.length - 12} more</li>}</ul>
    {failures.value.length > 0 && <div class="problem" role="alert"><ul>{failures.value.map((f) => <li key={f}>{f}</li>)}</ul></div>}
    <div class="actions">
      <Button onClick={close}>{over ? 'Close' : 'Back'}</Button>
      {!over && <Button kind="primary" busy={done.value >= 0} onClick={go}>{done.value >= 0 ? `${done.value} of ${runs.length}` : title}</Button>}
    </div>
  </Dialog>;
}
