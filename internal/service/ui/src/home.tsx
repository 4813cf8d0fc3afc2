// What needs attention: what runs, what waits, what failed, what comes next.
import './home.css';
import { useRef } from 'preact/hooks';
import { get, useResource, ApiError } from './api';
import { ago, count, serviceNow } from './format';
import { Empty, Load, Page, Section, Time } from './parts';
import { A, pathOf } from './router';
import { elapsed, KeptMark, ParamText, trigger } from './run_table';
import { Glyph, word } from './status';
import { useChanges } from './stream';
import type { AttentionItem, RunList, RunRow } from './types';
import { changesQuestions, useQuestions } from './waiting';

interface Schedule { name: string; tool: string; cron: string; timezone?: string; next?: string; paused: boolean }
const shown = 8;

/** The schedules; undefined means that this service does not run any. */
async function readSchedules(abort: AbortSignal): Promise<Schedule[] | null> {
  try {
    return (await get<{ schedules: Schedule[] }>('/schedules', {}, abort)).schedules;
  } catch (e) {
    if (e instanceof ApiError && e.status === 404) return null;
    throw e;
  }
}

export function Home() {
  const active = useResource((a) => get<RunList>('/runs', { status: ['running', 'pending'], limit: 50, params: 1 }, a));
  const failed = useResource((a) => get<RunList>('/runs', { status: ['failed', 'timed-out', 'interrupted'], since: new Date(serviceNow() - 86_400_000).toISOString(), limit: 50 }, a));
  const recent = useResource((a) => get<RunList>('/runs', { status: ['succeeded', 'cancelled'], limit: 4 * shown, params: 1 }, a).then(byEnd));
  const questions = useQuestions();
  const schedules = useResource(readSchedules);
  // What waits for an answer has a section of its own.
  const attention = useResource((a) => get<{ attention: AttentionItem[] }>('/attention', {}, a).then((d) => d.attention.filter((i) => i.kind !== 'waiting')));
  const asks = useRef(false); // reading all questions costs the service most
  useChanges(() => {
    [active, failed, recent, schedules, attention].forEach((r) => r.reload());
    if (asks.current) questions.reload();
    asks.current = false;
  }, (e) => {
    const changed = changesQuestions(questions.data.peek(), e);
    asks.current ||= changed;
    return changed || e.kind.startsWith('run.');
  }, 1500);
  return <Page title="Home">
    <div class="home">
      {attention.data.value?.length !== 0 && <Section title="Needs attention" class="wide">
        <Load from={attention}>{(list) => <Attention list={list} />}</Load>
      </Section>}
      <Section title="Failed since yesterday" aside={<More n={failed.data.value?.runs.length} href="/runs?status=failed,timed-out,interrupted&age=24h" />}>
        <Load from={failed}>{(d) => d.runs.length === 0 ? <Empty>No run has failed in the last 24 hours.</Empty> : <Failures runs={d.runs} />}</Load>
      </Section>
      <Section title="Waiting for an answer" aside={<More n={questions.data.value?.length} href="/waiting" />}>
        <Load from={questions}>{(list) => list.length === 0 ? <Empty>No run waits for an answer.</Empty>
          : <ul class="rows">{list.slice(0, shown).map((q) => <li key={q.run + q.step}><Glyph state="waiting" /><div><A href={pathOf('runs', q.run)}>{q.tool}</A><div class="detail clip">{q.prompt}</div></div><Time at={q.since} /></li>)}</ul>}</Load>
      </Section>
      <Section title="Running now" aside={<More n={active.data.value?.runs.length} href="/runs?status=running,pending" />}>
        <Load from={active}>{(d) => d.runs.length === 0 ? <Empty>Nothing runs now.</Empty> : <Rows runs={d.runs} detail={(r) => <ParamText params={r.params} />} end={(r) => elapsed(r)} />}</Load>
      </Section>
      <Section title="Next runs" aside={<A href="/schedules">Schedules</A>}>
        <Load from={schedules}>{(list) => list === null ? <Empty>No scheduler is running: this service was started without schedules.</Empty> : <Firings list={list} />}</Load>
      </Section>
      <Section title="Recently finished" class="wide" aside={<A href="/runs">All runs</A>}>
        <Load from={recent}>{(d) => d.runs.length === 0 ? <Empty>No run has succeeded yet. Start one from <A href="/tools">Tools</A>, or with <code>flowrun run</code>.</Empty>
          : <Rows runs={d.runs} detail={(r) => <><ParamText params={r.params} /> <span>{trigger(r.origin)}</span></>} end={(r) => <>{elapsed(r)} · <Time at={r.ended ?? r.started} /></>} />}</Load>
      </Section>
    </div>
  </Page>;
}

function More({ n = 0, href }: { n?: number; href: string }) {
  return n > 0 ? <A href={href}>{n >= 50 ? '50 or more' : n > shown ? `All ${n}` : n}</A> : null;
}

function Rows({ runs, detail, end }: { runs: RunRow[]; detail: (r: RunRow) => any; end: (r: RunRow) => any }) {
  return <ul class="rows">{runs.slice(0, shown).map((r) => <li key={r.id}>
    <Glyph state={r.status} />
    <div><A href={pathOf('runs', r.id)}>{r.tool}<span class="sr-only">, {word(r.status)}</span></A> <code class="muted">{r.id}</code> <KeptMark of={r} /><div class="detail clip">{detail(r)}</div></div>
    <span class="number muted">{end(r)}</span></li>)}</ul>;
}

/** The runs that ended last first: they are listed in order of their start. */
const byEnd = (d: RunList): RunList => ({ ...d, runs: [...d.runs].sort((a, b) => (b.ended ?? '').localeCompare(a.ended ?? '')) });

/** What has failed, a row for each tool with its last failure. */
function Failures({ runs }: { runs: RunRow[] }) {
  const tools = [...new Set(runs.map((r) => r.tool))].map((tool) => byEnd({ runs: runs.filter((r) => r.tool === tool) }).runs);
  return <ul class="rows">{tools.slice(0, shown).map(([r, ...more]) => <li key={r.id}>
    <Glyph state={r.status} />
    <div><A href={pathOf('runs', r.id)}>{r.tool}<span class="sr-only">, {word(r.status)}</span></A> {more.length > 0 ? <A class="tag" href={`/runs?tool=${encodeURIComponent(r.tool)}&status=failed,timed-out,interrupted&age=24h`}>{more.length + 1} times</A> : <code class="muted">{r.id}</code>} <KeptMark of={r} />
      <div class="detail clip">{r.message ?? word(r.status)}</div></div>
    <span class="number muted"><Time at={r.ended ?? r.started} /></span></li>)}</ul>;
}

/** What needs a person, with the command to type. */
function Attention({ list }: { list: AttentionItem[] }) {
  return <ul class="rows">{list.slice(0, shown).map((i) => <li key={`${i.kind} ${i.run} ${i.tool} ${i.schedule} ${i.step}`}>
    <Glyph state="interrupted" />
    <div>{i.run ? <A href={pathOf('runs', i.run)}>{i.tool}</A> : i.tool ? <A href={pathOf('tools', i.tool)}>{i.tool}</A> : <b>This machine</b>} <span class="muted">{i.kind}</span>
      <div class="detail">{i.reason}</div><div class="detail"><code>{i.do}</code></div></div>
    {i.since && <span class="number muted"><Time at={i.since} /></span>}</li>)}
  {list.length > shown && <li class="muted">and {list.length - shown} more: <code>flowrun ps</code></li>}</ul>;
}

function Firings({ list }: { list: Schedule[] }) {
  const next = list.filter((s) => s.next && !s.paused).sort((a, b) => a.next!.localeCompare(b.next!)).slice(0, shown);
  const paused = list.filter((s) => s.paused).length;
  if (next.length === 0) return <Empty>{list.length === 0 ? 'There are no schedules.' : `All ${count(list.length, 'schedule')} are paused.`}</Empty>;
  return <ul class="rows">{next.map((s) => <li key={s.name}>
    <svg class="glyph s-pending" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path class="line" d="M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 1 0 0-11M8 5v3.200l2.200 1.300" /></svg>
    <div><A href="/schedules">{s.name}</A><div class="detail clip">{s.tool}, <code>{s.cron}</code>{s.timezone ? ` (${s.timezone})` : ''}</div></div>
    <time class="number muted" dateTime={s.next} title={s.next}>{ago(s.next!)}</time></li>)}
  {paused > 0 && <li class="muted">and {count(paused, 'paused schedule')}</li>}</ul>;
}
