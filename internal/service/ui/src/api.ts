// Requests to the HTTP API of the service.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { signal, useSignal, type Signal } from '@preact/signals';
import { noteServiceTime } from './format';
import { parse, write } from './json';

/** One problem with a parameter or a part of a definition. */
export interface Detail { name: string; code: string; message: string; hint?: string }

/** What the service answers to a request that it refuses. */
export class ApiError extends Error {
  constructor(readonly status: number, readonly code: string, message: string, readonly hint = '', readonly problems: Detail[] = []) {
    super(message);
  }
}

type Query = Record<string, string | number | boolean | string[] | null | undefined>;

/** Returns the URL of a route with its query. */
export function url(path: string, query: Query = {}): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) value.forEach((v) => q.append(name, v));
    else if (value !== null && value !== undefined && value !== '' && value !== false) q.set(name, String(value));
  }
  const text = q.toString();
  return '/api/v1' + path + (text && '?' + text);
}

/** Requests a document. */
export async function get<T>(path: string, query: Query = {}, abort?: AbortSignal): Promise<T> {
  return exchange('GET', url(path, query), undefined, abort);
}

/** Requests a change. */
export async function send<T = unknown>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<T> {
  return exchange(method, url(path), body);
}

/** The number of the last event before the first document that was read, and before the latest one. */
export const lastEvent = { first: '', latest: '' };

let open = 0, drew = () => {};

/** When the first documents have been read and drawn, at the latest after two seconds. */
export const drawn = new Promise<void>((done) => {
  drew = done;
  setTimeout(done, 2000);
});

async function exchange<T>(method: string, target: string, body?: unknown, abort?: AbortSignal): Promise<T> {
  open++;
  try {
    return await answer(await request(method, target, body, abort));
  } finally {
    if (--open === 0) setTimeout(() => { if (open === 0) drew(); }, 100); // a document can show that another one is needed
  }
}

async function request(method: string, target: string, body?: unknown, abort?: AbortSignal): Promise<Response> {
  const init: RequestInit = { method, signal: abort, headers: { Accept: 'application/json' } };
  if (body !== undefined) {
    init.body = write(body);
    init.headers = { ...init.headers, 'Content-Type': 'application/json' };
  }
  try {
    const sent = Date.now(), r = await fetch(target, init);
    noteServiceTime(r.headers.get('Date'), sent, Date.now());
    noteLastEvent(r.headers.get('Last-Event-ID'));
    return r;
  } catch (e) {
    if (abort?.aborted) throw e;
    throw new ApiError(0, 'offline', 'The service does not answer.', 'Check that flowrun serve is running.');
  }
}

/** Numbers of events have as many digits each, and do not fit into a number of JavaScript. */
function noteLastEvent(id: string | null) {
  if (!id) return;
  if (!lastEvent.first || id < lastEvent.first) lastEvent.first = id;
  lastEvent.latest = id;
}

async function answer<T>(r: Response): Promise<T> {
  if (r.status === 401) signIn();
  const text = await r.text();
  let doc: any = null;
  try {
    doc = text === '' ? null : parse(text);
  } catch { /* an answer of something between this page and the service */ }
  if (r.ok) return doc;
  const e = doc?.error;
  throw new ApiError(r.status, e?.code ?? 'unknown', e?.message ?? `The service answered with status ${r.status}.`, e?.hint, e?.problems);
}

/** Shows the page where a person signs in, and comes back here afterwards. */
export function signIn() {
  location.assign('/login?next=' + encodeURIComponent(location.pathname + location.search));
}

/** A document that a page shows, and its state. */
export interface Resource<T> {
  data: Signal<T | undefined>;
  error: Signal<ApiError | undefined>;
  /** Whether it is being requested, also again. */
  busy: Signal<boolean>;
  /** Requests it again; what is shown stays until the answer is there. */
  reload(): void;
}

/**
 * Requests a document when a component appears and when key changes. A later request replaces
 * an earlier one, whose answer is ignored.
 */
export function useResource<T>(load: (abort: AbortSignal) => Promise<T>, key: unknown = ''): Resource<T> {
  const data = useSignal<T | undefined>(undefined), error = useSignal<ApiError | undefined>(undefined), busy = useSignal(true);
  const latest = useRef<AbortController | undefined>(undefined);
  const loader = useRef(load);
  loader.current = load;
  const reload = useRef(() => {
    latest.current?.abort();
    const abort = (latest.current = new AbortController());
    busy.value = true;
    loader.current(abort.signal).then(
      (doc) => { if (!abort.signal.aborted) { data.value = doc; error.value = undefined; busy.value = false; } },
      (e) => { if (!abort.signal.aborted) { error.value = toError(e); busy.value = false; } });
  }).current;
  const keyText = JSON.stringify(key);
  useLayoutEffect(() => {
    reload();
    return () => latest.current?.abort();
  }, [keyText]);
  return { data, error, busy, reload };
}

/** Returns an error of any kind as an ApiError. */
export function toError(e: unknown): ApiError {
  return e instanceof ApiError ? e : new ApiError(0, 'page', String((e as Error)?.message ?? e));
}

/** Who is signed in, and what the service lets them do. */
export interface Session { user?: string; role: 'viewer' | 'operator' | 'admin'; read_only: boolean; signed_in: boolean; version: string }

/** The session; undefined until it is known. */
export const session = signal<Session | undefined>(undefined);

/** Whether actions are shown: to run, cancel and answer. The service checks it again. */
export const mayOperate = () => !!session.value && !session.value.read_only && session.value.role !== 'viewer';

/** Whether the audit log can be read here. */
export const mayAudit = () => session.value?.role === 'admin';

/** Whether definitions can be changed here. */
export const mayEdit = () => mayOperate() && session.value!.role === 'admin';
