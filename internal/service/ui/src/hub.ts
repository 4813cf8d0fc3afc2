// The hub: one stream of events for all tabs of a browser. It runs in a worker that the tabs share, or, where a browser
// has none, in each tab. Browsers allow few connections to one service, so tabs must not have one each.
//
// Tabs say which runs they follow, or that they follow all. The past events of a run are read once; new events come from
// the stream of all runs, limited to those that are followed. The number of an event within its run tells what is
// missing, and then the past is read again: so no event of a run is lost, whatever happens to the stream. Those who
// follow all runs say which event they have read a state after; when others are missing they are told to read it again.

/** What a tab sends to the hub. Any message says that the tab is there. */
export interface ToHub {
  /** Follow a run after an event, or all runs with run '' after the event since of the stream of all runs. */
  follow?: { id: number; run: string; after: number; since: string };
  /** Follow no longer. */
  leave?: number;
  /** Whether to tell how many runs wait for an answer. */
  counts?: boolean;
  /** Connect now if there is no connection. */
  retry?: boolean;
  /** The tab is closed. */
  bye?: boolean;
}

/** What the hub sends to a tab. */
export interface FromHub {
  /** Of which request to follow. */
  id?: number;
  /** Events as JSON. */
  events?: string[];
  /** Events are missing. */
  reset?: boolean;
  /** The run has ended, with this status; '' if there is no such run. */
  end?: string;
  /** Whether the service answers. */
  connection?: 'open' | 'lost';
  /** The session has ended. */
  signedOut?: boolean;
  /** How many runs wait for an answer. */
  waiting?: number;
  /** The hub has not heard of the tab for long: follow again. */
  again?: boolean;
}

interface Tab { port: MessagePort; counts: boolean; seen: number; follows: Map<number, Follower> }
interface Follower { tab: Tab; id: number; at: number }

interface Run {
  id: string;
  after: number; // the number of the event before the first one in events
  known: number; // the highest number that the stream has told
  events: string[];
  followers: Set<Follower>;
  joining: Set<Follower>; // who get events when the service has shown once more that this browser may read them
  read: boolean; // whether its past was read
  streamed: boolean; // whether the stream has it, and its past was read again since then
  reading: boolean;
  again: boolean; // whether to read again after that
  quiet: boolean; // whether nothing came for a while
}

const maxDelay = 15_000, tick = 5000, silence = 45_000, pause = 16, unrecorded = 200; // milliseconds

const tabs = new Set<Tab>(), runs = new Map<string, Run>(), all = new Set<Follower>();
const broken = new Set<Run | 'stream'>(); // what the service did not answer
let source: EventSource | undefined, limit = '', last = '', delay = 500, timer = 0, flushing = 0, ticks = 0, ticker = 0, fresh: string[] = [];

const post = (f: Follower, m: FromHub) => f.tab.port.postMessage({ id: f.id, ...m });
const tell = (m: FromHub) => tabs.forEach((t) => t.port.postMessage(m));
const lastOf = (r: Run) => r.after + r.events.length;

/** Serves a tab. */
export function join(port: MessagePort) {
  const tab: Tab = { port, counts: false, seen: 0, follows: new Map() };
  ticker ||= setInterval(onTick, tick);
  port.onmessage = ({ data: m }: MessageEvent<ToHub>) => {
    tabs.add(tab);
    tab.seen = Date.now();
    if (m.counts !== undefined) {
      tab.counts = m.counts;
      if (m.counts) count();
    }
    if (m.leave !== undefined) leave(tab, m.leave);
    if (m.follow) follow(tab, m.follow);
    if (m.retry && timer) connect(true);
    if (m.bye) {
      drop(tab);
      tabs.delete(tab);
    }
  };
  port.postMessage({ connection: broken.size ? 'lost' : 'open' } satisfies FromHub); // the tab knows that the hub works
}

function follow(tab: Tab, { id, run, after, since }: NonNullable<ToHub['follow']>) {
  leave(tab, id);
  const f: Follower = { tab, id, at: after };
  tab.follows.set(id, f);
  if (!limit) last ||= since; // a stream that is there may not have told yet what came before
  if (run === '') {
    all.add(f);
    if (!last || since < last) post(f, { reset: true }); // the stream is past what it has read
    connect();
    return;
  }
  let r = runs.get(run);
  if (!r) {
    r = { id: run, after, known: 0, events: [], followers: new Set(), joining: new Set(), read: false, streamed: false, reading: false, again: false, quiet: false };
    runs.set(run, r);
  }
  if (after < r.after) Object.assign(r, { after, events: [] });
  r.joining.add(f);
  read(r);
}

function leave(tab: Tab, id: number) {
  const f = tab.follows.get(id);
  if (!f) return;
  tab.follows.delete(id);
  all.delete(f);
  for (const r of runs.values()) {
    r.followers.delete(f);
    r.joining.delete(f);
    if (r.followers.size + r.joining.size === 0) forget(r);
  }
  setTimeout(connect); // a tab that goes to another page follows something else at once
}

const drop = (tab: Tab) => [...tab.follows.keys()].forEach((id) => leave(tab, id));

function forget(r: Run) {
  runs.delete(r.id);
  answers(r, true);
}

/** Connects to a stream of what is followed, unless it is there. */
function connect(now = false) {
  const live = [...runs.values()].filter((r) => r.read), only = live.map((r) => 'run=' + encodeURIComponent(r.id)).sort().join('&');
  const wanted = all.size ? 'all' : only;
  if (wanted === limit && !now) return;
  const after = last;
  clearTimeout(timer);
  source?.close();
  timer = 0;
  source = undefined;
  limit = wanted;
  if (!wanted) {
    last = '';
    answers('stream', true);
    return;
  }
  const s = (source = new EventSource('/api/v1/events?' + [all.size ? '' : only, after && 'after=' + after].filter(Boolean).join('&')));
  s.onopen = () => {
    delay = 500;
    answers('stream', true);
    if (!after) all.forEach((f) => post(f, { reset: true })); // nobody knows what came before
    for (const r of live) if (!after || !r.streamed) read(r);
    for (const r of live) r.streamed = true;
  };
  s.onmessage = (m) => {
    if (m.lastEventId) last = m.lastEventId;
    onEvent(m.data);
  };
  s.addEventListener('reset', () => {
    runs.forEach(read);
    all.forEach((f) => post(f, { reset: true }));
  });
  s.onerror = () => { // also after a normal end of the connection
    s.close();
    answers('stream', false);
    timer = setTimeout(() => connect(true), delay);
    delay = Math.min(delay * 2, maxDelay);
  };
}

/** Tells whether the service answers. A stream does not say why it failed: the session can have ended. */
function answers(what: Run | 'stream', yes: boolean) {
  const before = broken.size;
  if (yes) broken.delete(what);
  else broken.add(what);
  if (!before !== !broken.size) tell({ connection: broken.size ? 'lost' : 'open' });
  if (!yes) fetch('/api/v1/session').then((r) => { if (r.status === 401) tell({ signedOut: true }); }, () => {});
}

function onEvent(data: string) {
  if (all.size) fresh.push(data);
  if (runs.size) {
    const e = JSON.parse(data), r = runs.get(e.run);
    if (r && e.seq > lastOf(r)) {
      r.quiet = false;
      r.known = Math.max(r.known, e.seq);
      if (e.seq > lastOf(r) + 1 || e.kind === 'run.finished') read(r); // which waits until the end is recorded
      else r.events.push(data);
    }
  }
  flushing ||= setTimeout(flush, pause);
}

function flush() {
  flushing = 0;
  if (fresh.length) all.forEach((f) => post(f, { events: fresh }));
  fresh = [];
  runs.forEach(deliver);
}

/** Sends to those who follow a run what they do not have. */
function deliver(r: Run) {
  for (const f of r.followers) {
    if (f.at >= lastOf(r)) continue;
    post(f, { events: r.events.slice(Math.max(0, f.at - r.after)) });
    f.at = lastOf(r);
  }
}

/** Reads the past events of a run that are missing. */
async function read(r: Run) {
  if (r.reading) {
    r.again = true;
    return;
  }
  r.reading = true;
  r.again = false;
  try {
    await readOnce(r);
    answers(r, true);
  } catch {
    if (runs.get(r.id) !== r) return;
    answers(r, false);
    setTimeout(() => { if (runs.get(r.id) === r) read(r); }, delay);
    delay = Math.min(delay * 2, maxDelay);
    r.again = false;
  } finally {
    r.reading = false;
  }
  if (runs.get(r.id) !== r) return;
  if (r.again) read(r);
  else if (r.read) connect();
  if (r.known > lastOf(r)) setTimeout(() => { if (runs.get(r.id) === r) read(r); }, unrecorded); // the stream can be ahead of the record
}

async function readOnce(r: Run) {
  const joining = [...r.joining], after = lastOf(r);
  const answer = await fetch(`/api/v1/runs/${encodeURIComponent(r.id)}/events?past=1` + (after ? '&after=' + after : ''));
  const refused = answer.status === 403 || answer.status === 404;
  if (!answer.ok && !refused) throw new Error(answer.statusText);
  for (const f of joining) if (r.joining.delete(f)) r.followers.add(f);
  if (refused) return end(r, '');
  deliver(r);
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const messages = (rest + part.value).split('\n\n');
    rest = messages.pop()!;
    for (const m of messages) {
      const [, seq, data] = /^id: (\d+)\ndata: (.*)$/.exec(m) ?? [], [, ended] = /^event: end\ndata: (.*)$/.exec(m) ?? [];
      if (data && Number(seq) === lastOf(r) + 1) r.events.push(data);
      if (ended) {
        deliver(r);
        return end(r, JSON.parse(ended).status);
      }
    }
    deliver(r);
  }
  r.read = true;
}

function end(r: Run, status: string) {
  if (runs.get(r.id) !== r) return;
  for (const f of r.followers) {
    f.tab.follows.delete(f.id);
    post(f, { end: status });
  }
  r.followers.clear();
  if (r.joining.size) return; // it is read again for those
  forget(r);
  connect();
}

/** Looks after what no event tells: runs without news, and tabs that were closed without a word. */
function onTick() {
  if (++ticks % 2 === 0) {
    for (const r of runs.values()) {
      if (r.quiet || r.events.at(-1)?.includes('"run.finished"')) read(r); // an interrupted run has no last event
      r.quiet = true;
    }
  }
  for (const t of tabs) {
    if (t.follows.size === 0 || Date.now() - t.seen < silence) continue;
    drop(t);
    t.port.postMessage({ again: true });
  }
  count();
}

/** Counts the runs that wait for an answer, for the tabs that do not read the questions themselves. */
function count() {
  if (broken.size || ![...tabs].some((t) => t.counts)) return;
  fetch('/api/v1/runs?status=waiting&limit=100').then(async (r) => {
    if (r.status === 401) tell({ signedOut: true });
    else if (r.ok) tell({ waiting: (await r.json()).runs.length });
  }, () => {});
}

// In a worker, tabs arrive as connections. A browser whose workers have no streams must not use it there.
if ('onconnect' in self && 'EventSource' in self) (self as any).onconnect = (e: MessageEvent) => join(e.ports[0]);
