// The schedules: when each fires next and fired last, a calendar, and what it would have run in the past.
import { useSignal } from '@preact/signals';
import { shown } from './json';
import { attempt, Button, Dialog, Empty, LinkButton, Load, Page, Section, Time, toast } from './parts';
import { ApiError, get, mayOperate, send, useResource } from './api';
import { ago, clock, count, serviceNow, zone as here } from './format';
import { A, pathOf, routed, setQuery } from './router';
import { Status, states, type State } from './status';
import { useChanges } from './stream';
import { useRows } from './tools/list';
import './schedules.css';

interface Firing { at: string; run?: string; status: string; reason?: string; notes?: string[]; late?: boolean }

interface Schedule {
  name: string; tool: string; cron: string; on?: string; timezone?: string; next?: string; paused: boolean; source: string; params?: Record<string, unknown>; describe: string;
  overlap: string; catch_up: string; jitter?: string; start?: string; end?: string; skip_if_successful?: boolean; must_end_by?: string; pause_after?: number; pause_reason?: string; except?: string; tool_missing?: boolean; last?: Firing;
}

interface ScheduledTime { at: string; local: string; note?: string; fired?: Firing }

const route = (name: string, rest: string) => `/schedules/${encodeURIComponent(name)}/${rest}`;

/** 2026-03-29 03:00:00 +02:00: a time as its own zone writes it. */
const inZone = (at: string) => at.replace('T', ' ').replace(/\.\d+/, '').replace(/Z$/, ' UTC').replace(/([+-]\d\d:\d\d)$/, ' $1');

export function Schedules() {
  const list = useResource((abort) => get<{ schedules: Schedule[] }>('/schedules', {}, abort).catch((e) => {
    if (e instanceof ApiError && e.status === 404) return { schedules: undefined };
    throw e;
  }) as Promise<{ schedules?: Schedule[] }>);
  useChanges(list.reload, (e) => /^run\.(started|finished)$/.test(e.kind), 3000);
  useRows();
  const selected = routed.value.query.get('schedule');
  return <Page title="Schedules">
    <Load from={list}>{({ schedules }) => {
      if (!schedules) return <Section title="No scheduler is running"><Empty>This service was started with --no-schedules, so nothing runs on a schedule.</Empty></Section>;
      const one = schedules.find((s) => s.name === selected);
      return <>
        <Section title="All schedules" aside={count(schedules.length, 'schedule')}>
          {schedules.length === 0 ? <Empty>No tool has a schedule. Add one to a definition, or with flowrun schedule add.</Empty>
            : <Table schedules={schedules} selected={one} changed={list.reload} />}
        </Section>
        {one && <Detail key={one.name} schedule={one} />}
      </>;
    }}</Load>
  </Page>;
}

function Table({ schedules, selected, changed }: { schedules: Schedule[]; selected?: Schedule; changed(): void }) {
  return <div class="table-scroll"><table class="schedules">
    <thead><tr><th>Schedule</th><th>Next</th><th class="narrow-hide">Last</th>{mayOperate() && <th><span class="sr-only">Actions</span></th>}</tr></thead>
    <tbody>{schedules.map((s) => <tr key={s.name} class={s === selected ? 'selected' : ''}>
      <td><A href={'/schedules?schedule=' + encodeURIComponent(s.name)} data-row aria-current={s === selected || undefined}><strong>{s.name}</strong></A>
        {s.tool !== s.name && <span class="muted"> runs <A href={pathOf('tools', s.tool)}>{s.tool}</A></span>}
        <div class="muted">{s.describe}</div></td>
      <td>{s.tool_missing ? <span class="tag">tool missing</span> : s.paused ? <><span class="tag">paused</span>{s.pause_reason && <div class="muted">{s.pause_reason}</div>}</> : s.next ? <><Time at={s.next} /><div class="muted">{clock(s.next)}</div></> : <span class="muted">over</span>}</td>
      <td class="narrow-hide">{s.last && <Fired firing={s.last} />}</td>
      {mayOperate() && <td class="actions-cell"><Actions schedule={s} changed={changed} /></td>}
    </tr>)}</tbody>
  </table></div>;
}

function Actions({ schedule: s, changed }: { schedule: Schedule; changed(): void }) {
  const asks = useSignal(false), busy = useSignal(false);
  const pause = () => attempt(() => send('POST', route(s.name, s.paused ? 'resume' : 'pause')), s.paused ? `${s.name} is active again.` : `${s.name} is paused.`).then(changed);
  const run = async () => {
    busy.value = true;
    await attempt(async () => {
      const { id } = await send<{ id: string }>('POST', route(s.name, 'run'));
      toast(`Run ${id} of ${s.tool} has started.`);
      asks.value = false;
    });
    busy.value = false;
    changed();
  };
  return <div class="row">
    <Button onClick={() => { asks.value = true; }} aria-label={`Run now: ${s.name}`}>Run now</Button>
    <Button kind="quiet" onClick={pause} aria-label={`${s.paused ? 'Resume' : 'Pause'} ${s.name}`}>{s.paused ? 'Resume' : 'Pause'}</Button>
    {asks.value && <Dialog title={`Run ${s.name} now`} onClose={() => { asks.value = false; }}>
      <p>This starts <code>{s.tool}</code> at once{s.params ? ' with the parameters of the schedule:' : '.'}</p>
      {s.params && <Params params={s.params} />}
      <p class="muted">The run does not count as one of the schedule: the next scheduled time stays.</p>
      <div class="actions"><Button onClick={() => { asks.value = false; }}>Not now</Button><Button kind="primary" busy={busy.value} onClick={run}>Run</Button></div>
    </Dialog>}
  </div>;
}

function Params({ params }: { params: Record<string, unknown> }) {
  return <ul>{Object.entries(params).map(([k, v]) => <li key={k}><code>{k}={shown(v)}</code></li>)}</ul>;
}

/** What happened at a scheduled time. */
function Fired({ firing: f }: { firing: Firing }) {
  const status = (states as string[]).includes(f.status) ? <Status state={f.status as State} note={f.notes?.join(', ')} /> : <span class="tag">{f.status}</span>;
  return <><div>{f.run ? <A href={pathOf('runs', f.run)}>{status}</A> : status}{f.late && <> <span class="tag" title="The run had not succeeded at its deadline.">late</span></>}</div>
    <div class="muted">{f.reason || <Time at={f.at} />}</div></>;
}

function Detail({ schedule: s }: { schedule: Schedule }) {
  const facts: [string, any][] = [
    ['Expression', <code>{s.cron}</code>], ['Time zone', s.timezone], ['If the last run is active', ({ skip: 'skip the new run', queue: 'queue the new run', 'cancel-running': 'cancel the active run', allow: 'run both' } as Record<string, string>)[s.overlap] ?? s.overlap],
    ['Missed times', `run ${s.catch_up}`.replace('run none', 'are not run')], ['Delay', s.jitter && `at most ${s.jitter}, at random`], ['From', s.start && clock(s.start)], ['Until', s.end && clock(s.end)],
    ['Must succeed by', s.must_end_by], ['Paused after', s.pause_after && count(s.pause_after, 'failure') + ' in a row'], ['No runs on', s.except],
    ['Skipped', s.skip_if_successful && 'if the tool has succeeded since the last time'], ['Defined in', <code>{s.source}</code>], ['Parameters', s.params && <Params params={s.params} />],
  ];
  return <>
    <div class="columns">
      <Section title={`${s.name}: next times`} aside={<LinkButton kind="quiet" href={pathOf('tools', s.tool)}>{s.tool}</LinkButton>}><Upcoming schedule={s} /></Section>
      <Section title="About"><dl class="facts body">{facts.filter(([, v]) => v).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl></Section>
    </div>
    <Calendar schedule={s} />
    <Past schedule={s} />
  </>;
}

function Upcoming({ schedule: s }: { schedule: Schedule }) {
  const times = useResource((abort) => get<{ times: ScheduledTime[] }>(route(s.name, 'times'), { limit: 10 }, abort), [s.name, s.next]);
  return <Load from={times}>{({ times: list }) => {
    if (list.length === 0) return <Empty>There are no more times.</Empty>;
    const two = list.some((t) => !inZone(t.at).startsWith(clock(t.at))); // the reader's clock shows other times
    return <>
      {s.paused && <p class="body muted">The schedule is paused, so nothing runs at these times.</p>}
      <div class="table-scroll"><table>
        <thead><tr><th>{s.timezone ?? 'Schedule'}</th>{two && <th>Your time ({here})</th>}<th>In</th><th>Note</th></tr></thead>
        <tbody>{list.map((t) => <tr key={t.at}><td class="number">{inZone(t.at)}</td>{two && <td class="number">{clock(t.at)}</td>}<td class="number">{ago(t.at).replace('in ', '')}</td><td>{t.note && <span class="note">{t.note}</span>}</td></tr>)}</tbody>
      </table></div>
    </>;
  }}</Load>;
}

const day = 86_400_000, weeks = 12, most = 1000;

/** How often the schedule fires on each day of the next weeks, as shades. */
function Calendar({ schedule: s }: { schedule: Schedule }) {
  const today = new Date();
  today.setHours(0, 0, 0, 0);
  const monday = new Date(today);
  monday.setDate(today.getDate() - ((today.getDay() + 6) % 7));
  const end = new Date(monday);
  end.setDate(monday.getDate() + 7 * weeks);
  const times = useResource((abort) => get<{ times: ScheduledTime[] }>(route(s.name, 'times'), { from: today.toISOString(), to: end.toISOString(), limit: most }, abort), [s.name, s.next]);
  return <Section title="Calendar" aside={`${weeks} weeks, days in ${here}`}><div class="body"><Load from={times}>{({ times: list }) => {
    const key = (d: Date) => `${d.getFullYear()}-${d.getMonth()}-${d.getDate()}`, days = new Map<string, ScheduledTime[]>();
    for (const t of list) {
      const k = key(new Date(t.at));
      days.set(k, [...(days.get(k) ?? []), t]);
    }
    const largest = Math.max(1, ...[...days.values()].map((l) => l.length)), last = list.length === most ? new Date(list[most - 1].at) : end;
    const cells = Array.from({ length: 7 * weeks }, (_, i) => {
      const d = new Date(monday);
      d.setDate(monday.getDate() + i);
      return { d, week: Math.floor(i / 7), weekday: i % 7, times: days.get(key(d)) ?? [] };
    });
    const label = `${count(list.length, 'scheduled time')} until ${clock(last.getTime()).slice(0, 10)}`;
    return <>
      <svg class="calendar" role="img" aria-label={label} viewBox={`0 0 ${36 + 16 * weeks} 130`}>
        {['Mon', 'Wed', 'Fri', 'Sun'].map((w, i) => <text key={w} x="0" y={27 + 32 * i}>{w}</text>)}
        {cells.filter((c) => c.weekday === 0 && (c.week === 0 || c.d.getDate() <= 7)).map((c) => <text key={c.week} x={36 + 16 * c.week} y="9">{c.d.toLocaleString('en', { month: 'short' })}</text>)}
        {cells.map((c) => <rect key={c.week + '-' + c.weekday} x={36 + 16 * c.week} y={15 + 16 * c.weekday} width="13" height="13" rx="2.500"
          class={c.d < today || c.d > last ? 'unknown' : c.times.length === 0 ? 'none' : `some level-${Math.ceil(4 * c.times.length / largest)}${c.times.some((t) => t.note) ? ' noted' : ''}`}>
          <title>{`${clock(c.d.getTime()).slice(0, 10)}: ${c.d < today ? 'past' : c.d > last ? 'not computed' : count(c.times.length, 'time')}${c.times.filter((t) => t.note).map((t) => `; ${t.note}`).join('')}`}</title></rect>)}
      </svg>
      <p class="muted">{label}{list.some((t) => t.note) ? '. An outlined day has a time that was moved, for example by daylight saving.' : '.'}</p>
    </>;
  }}</Load></div></Section>;
}

const date = (t: number) => clock(t).slice(0, 10);

/** The times of a range in the past: what ran, what was missed, and so what a backfill would run. */
function Past({ schedule: s }: { schedule: Schedule }) {
  const query = routed.value.query, now = serviceNow();
  const from = query.get('from') ?? date(now - 7 * day), to = query.get('to') ?? date(now);
  const range = { from: new Date(from + 'T00:00:00'), to: new Date(Math.min(new Date(to + 'T23:59:59').getTime(), now)) };
  const valid = !Number.isNaN(range.from.getTime()) && !Number.isNaN(range.to.getTime());
  const times = useResource((abort) => !valid ? Promise.resolve({ times: [] }) : get<{ times: ScheduledTime[] }>(route(s.name, 'times'), { from: range.from.toISOString(), to: range.to.toISOString(), limit: most }, abort), [s.name, from, to, s.last?.at]);
  return <Section title="Backfill" aside={<div class="row">
    <label>From <input type="date" value={from} max={date(now)} onChange={(e: any) => setQuery({ from: e.currentTarget.value })} /></label>
    <label>to <input type="date" value={to} max={date(now)} onChange={(e: any) => setQuery({ to: e.currentTarget.value })} /></label></div>}>
    <Load from={times}>{({ times: list }) => {
      const missed = list.filter((t) => !t.fired?.run);
      if (list.length === 0) return <Empty>The schedule has no times in this range.</Empty>;
      return <>
        <p class="body muted">{list.length === most && `The first ${most} times: `}{count(list.length, 'time')} in this range, {missed.length} without a run. A backfill would start {count(missed.length, 'run')} of {s.tool}. Times before the schedule was added have no run either.</p>
        {mayOperate() && missed.length > 0 && !s.on && <div class="body"><BackfillButton schedule={s} from={range.from} to={range.to} started={times.reload} /></div>}
        <div class="table-scroll past"><table>
          <thead><tr><th>{s.timezone ?? 'Time'}</th><th>What happened</th><th>Note</th></tr></thead>
          <tbody>{[...list].reverse().map((t) => <tr key={t.at}><td class="number">{inZone(t.at)}</td><td>{t.fired ? <Fired firing={t.fired} /> : <span class="muted">no run</span>}</td><td>{t.note && <span class="note">{t.note}</span>}</td></tr>)}</tbody>
        </table></div>
      </>;
    }}</Load>
  </Section>;
}

/** Starts runs for the past times of a range that have none. */
function BackfillButton({ schedule: s, from, to, started }: { schedule: Schedule; from: Date; to: Date; started(): void }) {
  const asks = useSignal(false);
  const stop = () => attempt(() => send('DELETE', route(s.name, 'backfill')), 'No more runs of a backfill start.').then(started);
  return <div class="row">
    <Button onClick={() => { asks.value = true; }}>Backfill</Button>
    <Button kind="quiet" onClick={stop}>Stop the backfill</Button>
    <A class="button quiet" href={`/runs?origin=${encodeURIComponent('backfill:' + s.name)}`}>Runs of backfills</A>
    {asks.value && <BackfillDialog schedule={s} from={from} to={to} close={() => { asks.value = false; started(); }} />}
  </div>;
}

const listed = 8;

/** Shows for which times the service would start runs, and starts them. */
function BackfillDialog({ schedule: s, from, to, close }: { schedule: Schedule; from: Date; to: Date; close(): void }) {
  const busy = useSignal(false), parallel = useSignal(1);
  const request = (more: object) => send<{ times: { at: string; status?: string }[] }>('POST', route(s.name, 'backfill'), { from: from.toISOString(), to: new Date(Math.min(to.getTime(), serviceNow() - 1000)).toISOString(), ...more });
  const missing = useResource(() => request({ dry_run: true }).then((d) => d.times.filter((t) => !t.status)));
  const start = async () => {
    busy.value = true;
    await attempt(async () => {
      const { times } = await request({ max_parallel: parallel.value });
      toast(`The backfill starts ${count(times.filter((t) => !t.status).length, 'run')} of ${s.tool}.`);
      close();
    });
    busy.value = false;
  };
  const n = missing.data.value?.length ?? 0;
  return <Dialog title={`Backfill ${s.name}`} onClose={close}>
    <Load from={missing}>{(list) => <>
      <p>This runs <code>{s.tool}</code> for {count(list.length, 'time')} from {clock(from.getTime())} to {clock(to.getTime())} without a run, oldest first:</p>
      <ul class="backfill-times">{list.slice(0, listed).map((t) => <li key={t.at} class="number">{inZone(t.at)}</li>)}{list.length > listed && <li class="muted">and {list.length - listed} more, until <span class="number">{inZone(list.at(-1)!.at)}</span></li>}</ul>
    </>}</Load>
    <label>Active at once <input type="number" min="1" value={parallel.value} onInput={(e: any) => { parallel.value = Math.max(1, Number(e.currentTarget.value) || 1); }} /></label>
    <div class="actions"><Button onClick={close}>Not now</Button><Button kind="primary" busy={busy.value} disabled={n === 0} onClick={start}>{n ? `Start ${count(n, 'run')}` : 'Start'}</Button></div>
  </Dialog>;
}
