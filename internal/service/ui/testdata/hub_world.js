// A service with three runs, a browser whose clock the test moves, and five tabs, for the hub.
var random, now = 0, timers = [], timerId = 0, sources = [], runs = {}, feed = [], tabs = [], log = [], up = true, most = 0;

function begin(seed) {
  random = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor(seed / 65536) % n; };
  for (const id of ['a', 'b', 'c']) runs[id] = { id, events: [], ended: false };
  for (let i = 0; i < 5; i++) {
    const tab = { n: i, port: { postMessage: (m) => receive(tab, m) }, id: 0, run: null, got: [], since: 0, end: undefined };
    hub.join(tab.port);
    tabs.push(tab);
  }
}

// Numbers of events have as many digits each.
const zero = 1_000_000, number = (n) => String(zero + n);

// The browser.
var self = {};
class TextDecoderStream {}
function setTimeout(f, after = 0) { timers.push({ id: ++timerId, at: now + after, f }); return timerId; }
function clearTimeout(id) { timers = timers.filter((t) => t.id !== id); }
function setInterval(f, every) { const again = () => { f(); setTimeout(again, every); }; return setTimeout(again, every); }
class Date { static now() { return now; } }

class EventSource {
  constructor(url) {
    const q = /\?(.*)/.exec(url)[1].split('&').filter(Boolean).map((p) => p.split('='));
    this.runs = q.filter(([n]) => n === 'run').map(([, v]) => v);
    this.at = Number(q.find(([n]) => n === 'after')?.[1] ?? zero - 1) - zero;
    this.listeners = {};
    sources.push(this);
    most = Math.max(most, sources.length);
    setTimeout(() => this.open(), random(50));
  }
  addEventListener(name, f) { this.listeners[name] = f; }
  close() { sources = sources.filter((s) => s !== this); }
  open() {
    if (!sources.includes(this)) return;
    if (!up) return this.fail();
    if (this.at < 0) this.at = feed.length;
    this.ready = true;
    this.onopen();
    if (this.at < feed.length - 20) { // too long ago
      this.at = feed.length - 20;
      this.listeners.reset();
    }
    this.flush();
  }
  flush() {
    if (!this.ready) return;
    for (; this.at < feed.length && sources.includes(this); this.at++) {
      const e = feed[this.at];
      if (this.runs.length === 0 || this.runs.includes(e.run)) this.onmessage({ lastEventId: number(this.at + 1), data: JSON.stringify(e) });
    }
  }
  fail() {
    this.ready = false;
    if (sources.includes(this)) this.onerror();
  }
}

function fetch(url) {
  const answer = (status, text = '') => ({ status, ok: status < 300, json: async () => ({ runs: [] }), body: { pipeThrough: () => ({ getReader: () => {
    const parts = text.match(/[^]{1,70}/g) ?? [];
    return { read: async () => (parts.length ? { value: parts.shift(), done: false } : { done: true }) };
  } }) } });
  return new Promise((done, failed) => setTimeout(() => {
    if (!up) return failed(new Error('down'));
    const m = /runs\/(\w+)\/events\?past=1(?:&after=(\d+))?/.exec(url);
    if (!m) return done(answer(200));
    const r = runs[m[1]];
    if (!r) return done(answer(404));
    const list = r.events.slice(Number(m[2] ?? 0), r.events.length - (r.late ?? 0));
    done(answer(200, list.map((e) => 'id: ' + e.seq + '\ndata: ' + JSON.stringify(e) + '\n\n').join('') + (r.ended && !r.late ? 'event: end\ndata: {"status":"succeeded"}\n\n' : '')));
  }, random(80)));
}

var target = 0;

/** Runs the next timer until target, and reports whether there was one. */
function turn() {
  const next = timers.filter((t) => t.at <= target).sort((a, b) => a.at - b.at || a.id - b.id)[0];
  if (!next) { now = target; return false; }
  if (timers.length > 1000) throw new Error('too many timers');
  timers = timers.filter((t) => t !== next);
  now = Math.max(now, next.at);
  next.f();
  return true;
}

// The tabs.
function send(tab, m) { tab.port.onmessage({ data: m }); }

function follow(tab, run) {
  log.push(now + ' tab ' + tab.n + ' follows ' + (run || 'all'));
  const since = random(10) ? Math.max(0, feed.length - random(6)) : 0; // it has read what it shows before
  Object.assign(tab, { id: tab.id + 1, run, got: [], since, end: undefined });
  send(tab, { follow: { id: tab.id, run, after: 0, since: random(10) ? number(since) : '' } });
}

function leave(tab) {
  log.push(now + ' tab ' + tab.n + ' leaves');
  if (tab.run !== null) send(tab, random(2) ? { leave: tab.id } : { bye: true });
  tab.run = null;
}

function receive(tab, m) {
  if (m.again && tab.run !== null && tab.end === undefined) { // the hub has forgotten it
    send(tab, { follow: { id: tab.id, run: tab.run, after: tab.got.length, since: number(tab.since) } });
    if (tab.run === '') readAgain(tab);
  }
  if (m.id !== tab.id || tab.run === null) return;
  for (const text of m.events ?? []) tab.got.push(JSON.parse(text));
  if (m.reset) readAgain(tab);
  if (m.end !== undefined) tab.end = m.end;
}

function readAgain(tab) { Object.assign(tab, { got: [], since: feed.length }); }

// What happens.
function happen(r, kind) {
  const e = { seq: r.events.length + 1, run: r.id, kind };
  r.events.push(e);
  if (random(8)) feed.push(e); // the feed may omit events
}

/** The run a ends, and its end is in the stream before it is recorded. */
function endLate() {
  const r = runs.a;
  r.late = 1;
  r.ended = true;
  const e = { seq: r.events.length + 1, run: r.id, kind: 'run.finished' };
  r.events.push(e);
  feed.push(e);
  sources.slice().forEach((s) => s.flush());
  setTimeout(() => { r.late = 0; }, 500);
  target = now + 3000;
}

function step() {
  const tab = tabs[random(5)], r = runs['abc'[random(3)]];
  switch (random(9)) {
    case 0: leave(tab); follow(tab, ['a', 'b', 'c', '', 'none'][random(5)]); break;
    case 1: leave(tab); break;
    case 2: if (!r.ended && !random(4)) { happen(r, 'run.finished'); r.ended = true; log.push(now + ' ' + r.id + ' ends'); } break;
    case 3: up = !up || !!random(3); log.push(now + ' up ' + up); if (!up) sources.slice().forEach((s) => s.fail()); break;
    case 4: sources.slice().forEach((s) => s.ready && !random(3) && s.fail()); break;
    default: for (let i = random(12); i >= 0 && !r.ended; i--) happen(r, 'step.started');
  }
  sources.slice().forEach((s) => s.flush());
  for (const t of tabs) if (t.run !== null && random(4)) send(t, {});
  target = now + (random(3) ? random(200) : random(9000));
}

/** Brings the service back, and waits longer than any timer of the hub. */
function settle() {
  up = true;
  log.push(now + ' settles');
  for (const t of tabs) if (t.run !== null) send(t, {});
  target = now + 40_000;
}

function wrong() {
  const list = [];
  for (const t of tabs) {
    if (!t.run) continue;
    if (t.run === 'none') {
      if (t.end !== '' || t.got.length) list.push('tab ' + t.n + ' is not told that there is no such run');
      continue;
    }
    const r = runs[t.run], got = t.got.map((e) => e.seq).join(), want = r.events.map((e) => e.seq).join();
    if (got !== want) list.push('tab ' + t.n + ' has the events ' + got + ' of ' + t.run + ', not ' + want);
    if ((t.end !== undefined) !== r.ended) list.push('tab ' + t.n + ' has the end ' + t.end + ' of ' + t.run + ', which has ended: ' + r.ended);
  }
  for (const t of tabs) {
    if (t.run !== '') continue;
    const got = t.got.map((e) => e.run + e.seq).join(), all = feed.map((e) => e.run + e.seq).join();
    if (!all.endsWith(got) || t.got.length < feed.length - t.since) list.push('tab ' + t.n + ' has ' + got + ' since ' + t.since + ' of ' + all);
  }
  const wanted = tabs.some((t) => t.run === '' || t.run && t.run !== 'none' && !runs[t.run].ended) ? 1 : 0;
  if (sources.length !== wanted) list.push(sources.length + ' streams at the end, want ' + wanted);
  if (most > 1) list.push(most + ' streams at once');
  return list;
}
