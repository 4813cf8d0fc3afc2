// The page of one run: its header, what can be done with it, and its tabs. All tabs show the same
// document and the same list of events.
import './run.css';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { get, useResource } from '../api';
import { count, serviceNow, spent } from '../format';
import { useKeys } from '../keys';
import { later } from '../later';
import { announcement, Copy, Load, Page, Tabs, Time } from '../parts';
import { A, navigate, pathOf, routed } from '../router';
import { QuestionCard } from '../question';
import { elapsed, trigger } from '../run_table';
import { settled, Status, word } from '../status';
import { useStream } from '../stream';
import type { Question, RunDoc, RunEvent } from '../types';
import { Actions } from './actions';
import { Events } from './events';
import { Failure } from './failure';
import { durations } from './fold';
import { wantsFocus } from './graph';
import { GraphTab, readGraph } from './graph_tab';
import { failedStates, Logs } from './logs';
import { Notices } from './notices';
import { keptCount, leavesOf, Steps } from './steps';
import { asOf, TimeBar, useMoment, type Moment } from './time';
import { Timeline } from './timeline';
import { Values } from './values';

/** What every tab gets. */
export interface RunView { id: string; run: RunDoc; events: RunEvent[]; moment: Moment; reload(): void }

const tabs: { name: string; text: string; key: string; view: (p: RunView) => any; drawn?: boolean; timed?: boolean }[] = [
  { name: 'graph', text: 'Graph', key: 'v', view: GraphTab, drawn: true, timed: true },
  { name: 'timeline', text: 'Timeline', key: 't', view: Timeline, drawn: true, timed: true },
  { name: 'steps', text: 'Steps', key: 's', view: Steps, timed: true },
  { name: 'logs', text: 'Logs', key: 'l', view: Logs },
  { name: 'artifacts', text: 'Artifacts', key: 'a', view: later('Artifacts') },
  { name: 'events', text: 'Events', key: 'e', view: Events },
  { name: 'definition', text: 'Definition', key: 'd', view: later('Definition') },
  { name: 'changes', text: 'Changes', key: 'c', view: later('Changes') },
];

/** The address of a tab of a run, with the step and time that are chosen now. */
export function tabHref(id: string, tab: string, more: Record<string, string> = {}): string {
  const q = new URLSearchParams(), now = routed.value.query;
  for (const name of ['step', 't']) if (now.get(name) && now.get(name) !== '*') q.set(name, now.get(name)!); // * are all steps, in logs
  for (const [name, v] of Object.entries(more)) q.set(name, v);
  const text = q.toString();
  return pathOf('runs', id, tab) + (text && '?' + text);
}

export function RunPage({ params: { id, tab } }: { params: Record<string, string> }) {
  const cost = useRef(0); // milliseconds for reading the run
  const doc = useResource(async (abort) => {
    const began = performance.now(), d = await get<RunDoc>(`/runs/${encodeURIComponent(id)}`, { brief: 1 }, abort);
    cost.current = performance.now() - began;
    return d;
  }, id);
  const run = doc.data.value?.id === id ? doc.data.value : undefined;
  const known = useMemo(() => new Set(run?.steps.map((s) => s.id)), [run]);
  const { events, fresh, resume } = useEvents(id, {
    changes: (e) => !!e.notices || (e.node ? e.kind === 'step.waiting' || !known.has(e.node) : e.kind !== 'run.started' || run?.status !== 'running'),
    over: () => !!run && settled(run.status),
    reload: doc.reload,
    pause: () => Math.max(1000, 5 * cost.current),
  });
  const first = useRef({ id: '', name: '' }).current; // the first view stays, also when the run ends
  if (run && first.id !== id) Object.assign(first, { id, name: firstView(run) });
  const chosen = tabs.find((t) => t.name === (tab || first.name)) ?? tabs[0];
  useKeys(tabs.map((t) => ({ keys: t.key, does: `${t.text} of the run`, run: () => navigate(tabHref(id, t.name)) })).concat(chosen.name === 'graph' ? [] : [{ keys: 'f', does: 'Go to the graph', run: () => { wantsFocus.value = true; navigate(tabHref(id, 'graph')); } }]));
  useLayoutEffect(() => { if (chosen.drawn) readGraph(id).catch(() => {}); }, [id, chosen]); // together with the run
  const moment = useMoment(events, !!run && settled(run.status), run?.last_sign);
  const status = run?.status;
  useLayoutEffect(() => { if (status) announcement.value = `The run is ${word(status)}`; }, [status]);
  const reload = () => { doc.reload(); resume(); };
  return <Page name={run ? `${run.tool} ${id}` : id} wide title={run ? <>{run.tool} <Status state={run.status} note={run.notes?.join(', ')} /></> : id}
    actions={run && <Actions run={run} reload={reload} />}>
    <Load from={doc}>{(read) => {
      // While the run goes on, its events are ahead of the document.
      const d = fresh && read.status === 'running' ? { ...read, steps: asOf(read.steps, { ...moment, state: moment.live, past: false }) } : read;
      return read.id === id && <>
        {['failed', 'timed-out'].includes(d.status) && <Failure run={d} lines={first.name !== 'logs'} />}
        <Head run={d} moment={moment} resumes={events.filter((e) => e.kind === 'run.resumed').length} />
        <Questions id={id} steps={d.steps.filter((s) => s.status === 'waiting').map((s) => s.id)} reload={reload} />
        <Tabs label="Views of the run" selected={chosen.name} tabs={tabs.filter((t) => t.name !== 'artifacts' || t === chosen || keptCount(d.steps) > 0).map((t) => ({ name: t.name, href: tabHref(id, t.name), text: t.text, count: t.name === 'steps' ? d.steps.length : t.name === 'artifacts' ? keptCount(d.steps) : undefined }))} />
        {chosen.timed && <TimeBar moment={moment} />}
        <chosen.view id={id} run={chosen.timed && moment.past ? { ...d, steps: asOf(d.steps, moment) } : d} events={events} moment={moment} reload={reload} />
      </>;
    }}</Load>
  </Page>;
}

/** The view that answers first what a run is opened for: what it printed if it has one step, and what happens now if it goes on. */
function firstView(run: RunDoc): string {
  const leaves = leavesOf(run.steps);
  return leaves.length === 1 && leaves[0].status !== 'waiting' ? 'logs' : run.status === 'running' ? 'timeline' : 'graph';
}

interface Follower {
  /** Whether the document of the run must be read again for an event. Other events say all that changed. */
  changes(e: RunEvent): boolean;
  /** Whether the document says that the run has ended. */
  over(): boolean;
  reload(): void;
  /** How long to wait before that, in milliseconds. */
  pause(): number;
}

/** Follows the events of a run. Returns all of them so far; fresh when some arrived after the past ones. */
function useEvents(id: string, follower: Follower) {
  const events = useSignal<RunEvent[]>([]), after = useSignal(0);
  const state = useRef({ opened: serviceNow(), queue: [] as RunEvent[], unread: [] as RunEvent[], frame: 0, timer: 0, fresh: false, follower }).current;
  state.follower = follower;
  useLayoutEffect(() => {
    Object.assign(state, { opened: serviceNow(), fresh: false });
    events.value = [];
    after.value = 0;
    return () => {
      cancelAnimationFrame(state.frame);
      clearTimeout(state.timer);
      Object.assign(state, { queue: [], unread: [], frame: 0, timer: 0 });
    };
  }, [id]);
  const show = () => {
    state.frame = 0;
    events.value = events.value.concat(state.queue);
    state.queue = [];
  };
  useStream(id, after.value, {
    event: (e: RunEvent) => {
      if (e.seq <= ((state.queue.at(-1) ?? events.value.at(-1))?.seq ?? 0)) return; // came before the page followed once more, too
      state.queue.push(e);
      state.frame ||= requestAnimationFrame(show);
      // Past events come at once. The clock of the service can be another one, so their time alone does not tell.
      state.fresh ||= Date.parse(e.time) > state.opened - 5000 || serviceNow() > state.opened + 3000;
      if (!state.fresh || !state.follower.changes(e)) return;
      state.unread.push(e);
      state.timer ||= setTimeout(() => {
        const list = state.unread;
        Object.assign(state, { unread: [], timer: 0 });
        if (list.some((e) => state.follower.changes(e))) state.follower.reload(); // the first document can be newer than an event
      }, state.follower.pause());
    },
    end: () => {
      clearTimeout(state.timer);
      state.timer = 0;
      if (state.fresh || !state.follower.over()) state.follower.reload();
    },
  });
  return { events: events.value, fresh: state.fresh, resume: () => { show(); after.value = events.value.at(-1)?.seq ?? 0; } }; // what is queued counts as received
}

function Head({ run, moment, resumes }: { run: RunDoc; moment: Moment; resumes: number }) {
  const parts = spent(durations(moment.live, moment.end)).split(',').slice(1).join(',');
  return <div class="run-head">
    {run.message && !['succeeded', 'failed', 'timed-out'].includes(run.status) && (run.status !== 'waiting' || run.steps.some((s) => failedStates.includes(s.status))) && <p class={`reason s-${run.status}`}>{run.message}</p>}
    <dl>
      <div><dt>Run</dt><dd><code>{run.id}</code> <Copy text={run.id} kind="quiet">Copy</Copy></dd></div>
      <div><dt>Trigger</dt><dd>{run.retry_of ? <>retry of <A href={pathOf('runs', run.retry_of)}><code>{run.retry_of}</code></A></> : trigger(run.origin)}</dd></div>
      {run.attempt && <div><dt>Attempt</dt><dd class="number">{run.attempt}</dd></div>}
      {run.retry_at && <div><dt>Next attempt</dt><dd><Time at={run.retry_at} absolute /></dd></div>}
      {run.started && <div><dt>Started</dt><dd><Time at={run.started} absolute /> <span class="muted">(<Time at={run.started} />)</span></dd></div>}
      {run.started && <div><dt>Duration</dt><dd class="number">{elapsed(run)}{parts && ',' + parts}</dd></div>}
      {run.last_sign && <div><dt>Last sign of life</dt><dd><Time at={run.last_sign} absolute /></dd></div>}
      {resumes > 0 && <div><dt>Resumed</dt><dd class="number">{count(resumes, 'time')}</dd></div>}
      {run.status !== 'succeeded' && run.status !== 'interrupted' && settled(run.status) && <div><dt>Exit code</dt><dd class="number">{run.exit_code}</dd></div>}
    </dl>
    <Notices of={run.notices} />
    <Values of={run.labels} label="Labels" />
    <Values of={run.params} label="Parameters" />
    <Values of={run.outputs} label="Outputs" />
  </div>;
}

/** What the steps that wait ask. */
function Questions({ id, steps, reload }: { id: string; steps: string[]; reload(): void }) {
  const list = useResource(async (abort) => (steps.length ? get<{ questions: Question[] }>(`/runs/${encodeURIComponent(id)}/questions`, {}, abort) : { questions: [] }), [id, steps]);
  const questions = list.data.value?.questions ?? [];
  if (questions.length === 0) return null;
  return <div class="questions" role="region" aria-label={`The run waits for ${count(questions.length, 'answer')}`}>
    {questions.map((q) => <QuestionCard key={q.step} run={id} question={q} answered={() => { list.reload(); reload(); }} />)}
  </div>;
}
