// The state of a run, computed from its events. The same events give the same states as in Go
// (dag.State): a test compares them. Everything on the page of a run is made from it, for now and
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
  pauses: [from: number, to: number][]; // without an owner: between its end and a resume
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
  return { state: 'pending', steps: new Map(), children: [], pauses: [] };
}

export const isSettled = (s: State) => s !== 'pending' && s !== 'running' && s !== 'retrying' && s !== 'waiting';

/** Applies one event to a run. Events that cannot have happened are ignored. */
export function apply(r: RunState, e: RunEvent) {
  const at = Date.parse(e.time);
  switch (e.kind) {
    case 'run.started':
      r.state = 'running';
      r.began = at;
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
      r.ended = at;
      break;
    default:
      if (e.node) applyStep(r, e, at);
  }
  r.last = at;
}

function applyStep(r: RunState, e: RunEvent, at: number) {
  const s = find(r, e.node!);
  if (isSettled(s.state)) return;
  switch (e.kind) {
    case 'step.started':
      close(s, at);
      dropChildren(r, s);
      s.latest = e.node!;
      s.attempt = Math.max(e.attempt ?? 1, 1);
      if (s.attempt === 1 || s.began === undefined) s.began = at;
      if (e.queued_ns) s.intervals.push({ kind: 'queue', attempt: s.attempt, from: at - e.queued_ns / 1e6, to: at });
      enter(s, 'running', 'run', at);
      break;
    case 'step.expanded':
      s.items = e.keys?.length || e.items || 0;
      break;
    case 'step.retrying':
      if (s.state === 'retrying' || s.state === 'waiting') return;
      close(s, at, e.result);
      dropChildren(r, s);
      s.due = time(e.due);
      enter(s, 'retrying', 'retry', at);
      break;
    case 'step.waiting':
      if (s.state !== 'running' || !e.result?.wait) return;
      close(s, at, e.result);
      s.due = time(e.result.wait.until);
      enter(s, 'waiting', 'wait', at);
      break;
    case 'step.fallback':
      if (s.state === 'waiting') return;
      close(s, at, e.result);
      dropChildren(r, s);
      enter(s, s.state, 'fallback', at);
      break;
    case 'step.finished':
      if (!e.result || !isSettled(e.result.status)) return;
      close(s, at, e.result);
      if (!allSettled(s)) dropChildren(r, s); // they never began: the values of the step were rejected
      s.result = e.result;
      s.state = e.result.status;
      s.since = s.ended = at;
      s.due = undefined;
  }
}

/** Whether all steps and items in a step that ends have settled. */
function allSettled(s: StepState): boolean {
  return s.children.every((c) => isSettled(c.state)) && s.children.length >= (s.items ?? 0);
}

/** Ends what a step does. */
function close(s: StepState, at: number, result?: StepResult) {
  const last = s.intervals.at(-1);
  if (last && last.to === undefined) {
    last.to = at;
    if (last.kind === 'run' || last.kind === 'fallback') last.result = result;
  }
  s.result = result ?? s.result;
}

function enter(s: StepState, state: State, kind: Interval['kind'], at: number) {
  s.state = state;
  s.since = at;
  s.intervals.push({ kind, attempt: s.attempt, from: at });
}

/** Returns the step with that path, and adds it if it is new. */
function find(r: RunState, node: string): StepState {
  const path = withoutAttempts(node), known = r.steps.get(path);
  if (known) return known;
  const parent = parentOf(path);
  const s: StepState = { path, latest: node, parent, state: 'pending', attempt: 0, intervals: [], children: [] };
  r.steps.set(path, s);
  (parent ? find(r, parent) : r).children.push(s);
  return s;
}

function dropChildren(r: RunState, s: StepState) {
  for (const c of s.children) {
    dropChildren(r, c);
    r.steps.delete(c.path);
  }
  s.children = [];
}

/** Another owner continues the run: some steps run again, and those that hold them continue. */
function resume(r: RunState, e: RunEvent, at: number) {
  if (r.last !== undefined) r.pauses.push([r.last, at]);
  r.began ??= at;
  r.state = 'running';
  r.ended = r.result = r.cancelling = undefined;
  for (const path of e.reset ?? []) {
    const s = r.steps.get(withoutAttempts(path));
    if (!s) continue;
    dropChildren(r, s);
    close(s, r.last ?? at);
    Object.assign(s, { state: 'pending', attempt: 0, since: undefined, ended: undefined, due: undefined, result: undefined });
    for (let up = r.steps.get(s.parent); up; up = r.steps.get(up.parent)) {
      if (isSettled(up.state)) {
        up.ended = up.result = undefined;
        enter(up, 'running', 'run', at);
      }
    }
  }
}

const time = (text?: string) => (text ? Date.parse(text) : undefined);

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

/** The time that a step or the run took until t, without the time in which nobody ran it. */
export function elapsed(r: RunState, from: number | undefined, to: number): number {
  if (from === undefined) return 0;
  const paused = r.pauses.reduce((sum, [a, b]) => sum + Math.max(0, Math.min(b, to) - Math.max(a, from)), 0);
  return Math.max(0, to - from - paused);
}

/** Counts the states of steps. */
export function countStates(steps: Iterable<StepState>): Map<State, number> {
  const counts = new Map<State, number>();
  for (const s of steps) counts.set(s.state, (counts.get(s.state) ?? 0) + 1);
  return counts;
}
