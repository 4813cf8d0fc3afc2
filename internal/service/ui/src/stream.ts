// The events that this tab follows, from the hub (hub.ts), which all tabs of the browser share. A hidden tab follows
// nothing. When it comes back, it follows from the last event that it received, or reads its state again.
//
// The hub is started when the page has been drawn: a browser takes longer to start a worker than to show most pages.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { drawn, lastEvent, signIn } from './api';
import type { FromHub, ToHub } from './hub';
import { parse } from './json';
import { countWaiting } from './waiting_count';

/** Whether the service answers. */
export const connection = signal<'open' | 'lost'>('open');

export interface Handlers {
  /** One event: a flowrun/event.v1 document. */
  event(e: any): void;
  /** Events are missing: read the state again. */
  reset?(): void;
  /** The stream has ended for good, as for a run that has ended. */
  end?(status: string): void;
}

interface Following { run: string; after: number; handlers: Required<Handlers> }

const following = new Map<number, Following>();
const patience = 10_000; // milliseconds until a worker must have said something
let port: MessagePort | undefined, lastId = 0, counts = false;

drawn.then(() => {
  port = hub();
  send({ counts });
  askAll(lastEvent.first);
});

/** Follows the events of a run after one of them, or of all runs with run '', until the returned function is called. */
export function follow(run: string, after: number, handlers: Required<Handlers>): () => void {
  const id = ++lastId;
  following.set(id, { run, after, handlers });
  ask(id, lastEvent.latest);
  return () => {
    following.delete(id);
    send({ leave: id });
  };
}

/** Says whether this tab wants to know how many runs wait for an answer. */
export function wantCounts(wanted: boolean) {
  counts = wanted;
  send({ counts });
}

const send = (m: ToHub) => port?.postMessage(m);

/** Asks for what is followed. What is shown was read after the event since. */
function ask(id: number, since: string) {
  const f = following.get(id);
  if (f && !document.hidden) send({ follow: { id, run: f.run, after: f.after, since } });
}

const askAll = (since = lastEvent.latest) => following.forEach((_, id) => ask(id, since));

/** Follows again, after a time in which nothing was followed. */
function comeBack() {
  askAll();
  following.forEach((f) => { if (!f.run) f.handlers.reset(); });
}

/** The hub in the worker of all tabs, or in this tab. */
function hub(): MessagePort {
  if (!('SharedWorker' in window)) return hubHere();
  const worker = new SharedWorker(new URL('hub.js', import.meta.url), { type: 'module', name: 'flowrun' }), shared = worker.port;
  const instead = () => { // the browser cannot run it there
    clearTimeout(late);
    if (port !== shared) return;
    send({ bye: true });
    port = hubHere();
    send({ counts });
    comeBack();
  }, late = setTimeout(instead, patience);
  worker.onerror = instead;
  shared.onmessage = (m) => {
    clearTimeout(late);
    if (port === shared) receive(m);
  };
  return shared;
}

function hubHere(): MessagePort {
  const c = new MessageChannel();
  import('./hub').then((h) => h.join(c.port2), () => { connection.value = 'lost'; });
  c.port1.onmessage = receive;
  return c.port1;
}

function receive({ data: m }: MessageEvent<FromHub>) {
  if (m.connection) connection.value = m.connection;
  if (m.signedOut) signIn();
  if (m.waiting !== undefined && counts) countWaiting(m.waiting);
  if (m.again) comeBack();
  const f = following.get(m.id ?? 0);
  if (!f) return;
  for (const text of m.events ?? []) {
    const e = parse(text);
    if (f.run) f.after = e.seq;
    f.handlers.event(e);
  }
  if (m.reset) f.handlers.reset();
  if (m.end !== undefined) {
    following.delete(m.id!);
    if (m.end) f.handlers.end(m.end);
  }
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) following.forEach((_, id) => send({ leave: id }));
  else comeBack();
});
addEventListener('pagehide', () => send({ bye: true }));
addEventListener('pageshow', (e) => { if (e.persisted) { send({ counts }); comeBack(); } });
addEventListener('online', () => send({ retry: true }));
setInterval(() => { if (following.size && !document.hidden) send({}); }, 10_000); // this tab is still there

/** Follows a run, or all runs, while the component is shown. */
export function useStream(run: string, after: number, handlers: Handlers) {
  const current = useRef(handlers);
  current.current = handlers;
  useLayoutEffect(() => follow(run, after, {
    event: (e) => current.current.event(e),
    reset: () => current.current.reset?.(),
    end: (status) => current.current.end?.(status),
  }), [run, after]);
}

/**
 * Calls reload soon after something happened in any run, at most once in every interval, and
 * whenever events were missed. Lists use it: they read again instead of following each event.
 */
export function useChanges(reload: () => void, wanted: (e: any) => boolean = () => true, interval = 1000) {
  const timer = useRef(0);
  const due = () => {
    if (!timer.current) timer.current = setTimeout(() => { timer.current = 0; reload(); }, interval);
  };
  useLayoutEffect(() => () => clearTimeout(timer.current), []);
  useStream('', 0, { event: (e) => { if (wanted(e)) due(); }, reset: due });
}
