// The state of a run, computed from its events. The same events give the same states and durations
// as in Go (dag.State, package fold): a test compares them. Everything on the page of a run is made from it, for now and
// for any moment before. Nothing here knows of the page.
import type { Usage } from '../format';
import type { State } from '../status';

/** A flowrun/event.v1 document. */
export interface RunEvent {
  seq: number;
  kind: string;
  time: string;
  node?: string;
  attempt?: number;
  due?: string;
  reason?: string;
  queued_ns?: number;
  result?: StepResult;
  reset?: string[];
  items?: number;
  keys?: string[];
}

/** The result of a step, an attempt or the run, as in events. */
export interface StepResult {
  status: State;
  exit_code: number;
  reason?: string;
  message?: string;
  attempts?: number;
  fallback?: boolean;
  tolerated?: boolean;
  notes?: string[];
  started?: string;
  ended?: string;
  stdout?: { size: number; inline?: string };
  stderr?: { size: number; inline?: string };
  outputs?: { values: Record<string, unknown> };
  wait?: { kind: string; until?: string; asks?: boolean; prompt?: string; form?: unknown };
  usage?: Usage;
}

/** What a step did for some time. */
export interface Interval {
  kind: 'queue' | 'run' | 'fallback' | 'retry' | 'wait';
  attempt: number;
  from: number; // milliseconds, as all times here
  to?: number; // undefined while it lasts
  result?: StepResult; // of the attempt
}

/** One step, or one item of a loop. */
export interface StepState {
  path: string; // without the attempts of the steps around it
  latest: string; // with them, as in events
  parent: string; // path of the step that holds it, '' for none
  state: State;
  attempt: number;
  began?: number; // of the first attempt
  since?: number; // of the present state
  ended?: number;
  due?: number; // when the next attempt starts, or the wait ends
  result?: StepResult; // of the last attempt
  intervals: Interval[];
  items?: number; // of a loop, once they are known
  children: StepState[]; // in the order in which they began
  times: Times;
}

/**
 * Counts the time in which a run or a step waited, and in which nobody owned the run. It is package
 * fold's times, in milliseconds.
 */
interface Times {
  does: '' | 'runs' | 'waits'; // by itself; '' also of a step that holds others
  busy: number; // how many steps in it, itself included, run
  waiting: number; // how many wait
  since: number; // when it began to wait, if it waits
  waited: number;
  idle: number;
}

/** How long a run or a step took, in milliseconds: waited and idle are parts of it. */
export interface Durations {
  took: number; // the wall clock's time from the start to the end
  waited: number; // it waited for a person or a time, and did nothing else
  idle: number; // it did not wait, and the run had no owner
}

/** A run at one moment. */
export interface RunState {
  state: State;
  began?: number;
  ended?: number;
  last?: number; // time of the last event
  cancelling?: string; // why it is being cancelled
  result?: StepResult;
  steps: Map<string, StepState>; // by path; steps that no event has named yet are missing
  children: StepState[]; // steps of the tool, in the order in which they began
  times: Times;
}

/** Returns the state after all events until t (milliseconds); without t, after all. */
export function stateAt(events: RunEvent[], t = Infinity): RunState {
  const r = newRun();
  for (const e of events) {
    if (Date.parse(e.time) > t) break;
    apply(r, e);
  }
  return r;
}

/** Returns a run before its first event. */
export function newRun(): RunState {
  return { state: 'pending', steps: new Map(), children: [], times: newTimes() };
}

export const isSettled = (s: State) => s !== 'pending' && s !== 'running' && s !== 'retrying' && s !== 'waiting';

/** Applies one event to a run. Events that cannot have happened are ignored. */
export function apply(r: RunState, e: RunEvent) {
  const at = instant(e.time);
  switch (e.kind) {
    case 'run.started':
      r.state = 'running';
      r.began = since(e);
      break;
    case 'run.resumed':
      resume(r, e, at);
      break;
    case 'run.cancelling':
      if (!e.node) r.cancelling = e.reason || 'cancelled';
      break;
    case 'run.finished':
      if (!e.result || !isSettled(e.result.status)) break;
      r.state = e.result.status;
      r.result = e.result;
      r.ended = time(e.result.ended) ?? at;
      break;
    default:
      if (e.node) applyStep(r, e, at);
  }
  r.last = at;
}

function applyStep(r: RunState, e: RunEvent, at: number) {
  const s = find(r, e.node!, at);
  if (isSettled(s.state)) return;
  switch (e.kind) {
    case 'step.started':
      close(r, s, at);
      dropChildren(r, s, at);
      s.latest = e.node!;
      s.attempt = Math.max(e.attempt ?? 1, 1);
      if (s.attempt === 1 || s.began === undefined) s.began = at;
      if (e.queued_ns) s.intervals.push({ kind: 'queue', attempt: s.attempt, from: at - e.queued_ns / 1e6, to: at });
      enter(r, s, 'running', 'run', at);
      break;
    case 'step.expanded':
      does(r, s, '', at);
      s.items = e.keys?.length || e.items || 0;
      break;
    case 'step.retrying':
      if (s.state === 'retrying' || s.state === 'waiting') return;
      close(r, s, at, e.result);
      dropChildren(r, s, at);
      s.due = time(e.due);
      enter(r, s, 'retrying', 'retry', at);
      break;
    case 'step.waiting':
      if (s.state !== 'running' || !e.result?.wait) return;
      close(r, s, at, e.result);
      s.due = time(e.result.wait.until);
      enter(r, s, 'waiting', 'wait', at);
      break;
    case 'step.fallback':
      if (s.state === 'waiting') return;
      close(r, s, at, e.result);
      dropChildren(r, s, at);
      enter(r, s, s.state, 'fallback', at);
      break;
    case 'step.finished':
      if (!e.result || !isSettled(e.result.status)) return;
      close(r, s, at, e.result);
      if (!allSettled(s)) dropChildren(r, s, at); // they never began: the values of the step were rejected
      s.result = e.result;
      s.state = e.result.status;
      s.since = at;
      s.ended = (e.result.status !== 'reused' && time(e.result.ended)) || at;
      s.due = undefined;
  }
}

/** Whether all steps and items in a step that ends have settled. */
function allSettled(s: StepState): boolean {
  return s.children.every((c) => isSettled(c.state)) && s.children.length >= (s.items ?? 0);
}

/** Ends what a step does. The times of a result count, not those of its event. */
function close(r: RunState, s: StepState, at: number, result?: StepResult) {
  const last = s.intervals.at(-1), within = (t: number | undefined, from: number) => Math.min(Math.max(t ?? from, last!.from), at);
  if (last && last.to === undefined) {
    last.to = result ? within(time(result.ended), at) : at;
    if (last.kind === 'run' || last.kind === 'fallback') last.result = result;
    if (last.kind === 'run' && last.attempt === 1 && result) last.from = Math.min(within(time(result.started), last.from), last.to);
  }
  s.result = result ?? s.result;
  if (result?.status !== 'reused') s.began = time(result?.started) ?? s.began; // a reused one is of another run
  does(r, s, '', at);
}

function enter(r: RunState, s: StepState, state: State, kind: Interval['kind'], at: number) {
  s.state = state;
  s.since = at;
  s.intervals.push({ kind, attempt: s.attempt, from: at });
  does(r, s, state === 'waiting' ? 'waits' : 'runs', at);
}

const newTimes = (): Times => ({ does: '', busy: 0, waiting: 0, since: 0, waited: 0, idle: 0 });

const waits = (t: Times) => t.waiting > 0 && t.busy === 0;

/** Sets what a step does by itself from now on, in it and in all that hold it. */
function does(r: RunState, s: StepState, what: Times['does'], at: number) {
  const was = s.times.does;
  if (was === what) return;
  s.times.does = what;
  const count = (t: Times) => {
    const waited = waits(t);
    t.busy += Number(what === 'runs') - Number(was === 'runs');
    t.waiting += Number(what === 'waits') - Number(was === 'waits');
    if (waited && !waits(t)) t.waited += Math.max(0, at - t.since);
    else if (!waited && waits(t)) t.since = at;
  };
  for (let up: StepState | undefined = s; up; up = r.steps.get(up.parent)) count(up.times);
  count(r.times);
}

/** The durations of a run or a step until its end, or until now if it has not ended. */
export function durations(x: { began?: number; ended?: number; times: Times }, now: number): Durations {
  const end = x.ended ?? now, took = x.began === undefined ? 0 : Math.max(0, end - x.began);
  const waited = Math.min(took, x.times.waited + (waits(x.times) ? Math.max(0, end - x.times.since) : 0));
  return { took: whole(took), waited: whole(waited), idle: whole(Math.min(took - waited, x.times.idle)) };
}

/** Returns the step with that path, and adds it if it is new. */
function find(r: RunState, node: string, at: number): StepState {
  const path = withoutAttempts(node), known = r.steps.get(path);
  if (known) return known;
  const parent = parentOf(path);
  const s: StepState = { path, latest: node, parent, state: 'pending', attempt: 0, intervals: [], children: [], times: newTimes() };
  r.steps.set(path, s);
  const holder = parent ? find(r, parent, at) : undefined;
  if (holder) does(r, holder, '', at);
  (holder ?? r).children.push(s);
  return s;
}

function dropChildren(r: RunState, s: StepState, at: number) {
  for (const c of s.children) {
    does(r, c, '', at);
    dropChildren(r, c, at);
    r.steps.delete(c.path);
  }
  s.children = [];
}

/** Another owner continues the run: some steps run again, and those that hold them continue. */
function resume(r: RunState, e: RunEvent, at: number) {
  const gap = r.last === undefined ? 0 : Math.max(0, at - Math.max(r.last, e.queued_ns ? since(e) : 0));
  for (const x of [r, ...r.steps.values()]) {
    if ((x === r || (x.state !== 'pending' && !isSettled(x.state))) && !waits(x.times)) x.times.idle += gap;
  }
  r.began ??= since(e);
  r.state = 'running';
  r.ended = r.result = r.cancelling = undefined;
  for (const path of e.reset ?? []) {
    const s = r.steps.get(withoutAttempts(path));
    if (!s) continue;
    dropChildren(r, s, at);
    const last = s.intervals.at(-1);
    if (last) last.to ??= at - gap;
    does(r, s, '', at);
    Object.assign(s, { state: 'pending', attempt: 0, began: undefined, since: undefined, ended: undefined, due: undefined, result: undefined, times: newTimes() });
    for (let up = r.steps.get(s.parent); up; up = r.steps.get(up.parent)) {
      if (isSettled(up.state)) {
        up.ended = up.result = undefined;
        up.times.idle += gap;
        enter(r, up, 'running', 'run', at);
        does(r, up, '', at);
      }
    }
  }
}

/** When what an event ended began: the time in the queue, or the one without an owner. */
const since = (e: RunEvent) => instant(e.time) - (e.queued_ns ?? 0) / 1e6;

/** A time in milliseconds, with the nanoseconds that a Date leaves out: a duration is rounded once, as the service does it. */
function instant(text: string): number {
  return Date.parse(text) + Number('0.' + (/\.\d{3}(\d+)/.exec(text)?.[1] ?? '0'));
}

/** Whole milliseconds. A number of this size has an error of 0.0003 ms. */
const whole = (ms: number) => Math.floor(ms + 0.0003);

const time = (text?: string) => (text ? instant(text) : undefined);

/** Returns a path without attempt numbers: setup/clone for setup#2/clone. Keys of items may contain # and /. */
export function withoutAttempts(path: string): string {
  return path.includes('#') ? path.replace(/(\[[^\]]*\])|#\d+/g, '$1') : path;
}

/** Returns a path as it is in the definition, without attempts and keys: test/build for test[3]/build. */
export function withoutKeys(path: string): string {
  return path.replace(/\[[^\]]*\]|#\d+/g, '');
}

/** Returns the path of the step that holds a step or an item, '' for a step of the tool. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(path.endsWith(']') ? path.lastIndexOf('[') : path.lastIndexOf('/'), 0));
}

/** Returns the last part of a path: clone for setup/clone, [3] for test[3]. */
export function nameOf(path: string): string {
  return path.endsWith(']') ? path.slice(path.lastIndexOf('[')) : path.slice(path.lastIndexOf('/') + 1);
}

/** Counts the states of steps. */
export function countStates(steps: Iterable<StepState>): Map<State, number> {
  const counts = new Map<State, number>();
  for (const s of steps) counts.set(s.state, (counts.get(s.state) ?? 0) + 1);
  return counts;
}
