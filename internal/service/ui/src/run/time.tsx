// Going back in time: a slider over the run, and the state of the run at the chosen moment. The
// moment is in the address (?t=, milliseconds since the run began), so that it can be linked.
import './time.css';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { signal, useSignal } from '@preact/signals';
import { duration, now } from '../format';
import { Button } from '../parts';
import { routed, setQuery } from '../router';
import { apply, isSettled, newRun, stateAt, withoutAttempts, type RunEvent, type RunState } from './fold';

/**
 * The moment while the slider is held or a replay runs, in milliseconds since the run began. It
 * is written to the address afterwards: browsers allow few changes of the address in a second.
 */
const held = signal<number | undefined>(undefined);

/** What a page shows of the time of a run. */
export interface Moment {
  state: RunState; // at the moment
  live: RunState; // after all events
  at: number; // the moment: the chosen one, or now, or the end of the run
  end: number; // now, or the end of the run
  past: boolean; // whether a moment was chosen
  over: boolean; // whether nothing more will happen, unless the run is resumed
}

/** Returns the state of a run at the moment in the address. over is whether nothing more will happen; lastSign is the last sign of life of an interrupted run. */
export function useMoment(events: RunEvent[], over: boolean, lastSign?: string): Moment {
  const folded = useRef({ first: undefined as RunEvent | undefined, count: 0, run: newRun() }).current;
  if (folded.first !== events[0] || folded.count > events.length) {
    Object.assign(folded, { first: events[0], count: 0, run: newRun() });
  }
  for (; folded.count < events.length; folded.count++) apply(folded.run, events[folded.count]);
  const live = folded.run, began = live.began ?? 0;
  const goesOn = !over && !isSettled(live.state);
  const end = Math.max(live.ended ?? live.last ?? began, goesOn ? now.value : live.ended === undefined && lastSign ? Date.parse(lastSign) : 0);
  const query = routed.value.query.get('t') || NaN, t = held.value ?? Number(query);
  const past = Number.isFinite(t) && t >= 0 && began > 0;
  const at = past ? Math.min(began + t, end) : end;
  const then = useMemo(() => (past ? stateAt(events, at) : undefined), [past, at, events.length, events[0]]);
  return { state: then ?? live, live, at, end, past, over: !goesOn };
}

/** Returns the steps of a run as they were at a moment. */
export function asOf<T extends { id: string; status: any; started?: string; ended?: string; message?: string; reason?: string; attempts: number; exit_code: number }>(steps: T[], { state, at, past }: Moment): T[] {
  return steps.map((s) => {
    const was = state.steps.get(withoutAttempts(s.id)), r = was?.result;
    const time = (t?: number) => (t === undefined ? undefined : new Date(t).toISOString());
    return {
      ...s, last_sign: undefined, duration_ms: undefined, status: was?.state ?? 'pending', attempts: was?.attempt ?? 0, exit_code: r?.exit_code ?? 0, message: r?.message, reason: r?.reason,
      started: time(was?.began), ended: time(was?.ended ?? (past && was?.began ? at : undefined)), // what went on had taken so long
    };
  });
}

/** How long a replay of a whole run takes, in milliseconds. */
const replayTime = 15_000;

/** The slider. */
export function TimeBar({ moment: m }: { moment: Moment }) {
  const playing = useSignal(false), began = m.live.began;
  const total = began === undefined ? 0 : Math.max(1, m.end - began), offset = began === undefined ? 0 : m.at - began;
  const within = (t: number) => Math.round(Math.max(0, Math.min(t, total)));
  const choose = (t: number | undefined) => {
    held.value = undefined;
    setQuery({ t: t === undefined ? null : within(t) });
  };
  const current = useRef({ offset, total });
  current.current = { offset, total };
  useLayoutEffect(() => {
    if (!playing.value) return;
    let frame = 0, last = performance.now(), next = held.peek() ?? current.current.offset;
    const step = (time: number) => {
      if (!playing.peek()) return;
      const { total } = current.current;
      next += (time - last) * Math.max(1, total / replayTime);
      last = time;
      if (next >= total) {
        playing.value = false;
        choose(undefined);
        return;
      }
      held.value = within(next);
      frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => {
      cancelAnimationFrame(frame);
      if (held.peek() !== undefined) choose(held.peek());
    };
  }, [playing.value]);
  useLayoutEffect(() => () => { held.value = undefined; }, []);
  if (began === undefined) return null;
  const play = () => {
    if (!playing.value && (!m.past || offset >= total)) held.value = 0;
    playing.value = !playing.value;
  };
  const text = `${duration(offset) || '0 ms'} of ${duration(m.end - began) || '0 ms'}`;
  return <div class={m.past ? 'time-bar past' : 'time-bar'} role="group" aria-label="Time of the run">
    <Button kind="quiet" class="play" aria-label={playing.value ? 'Pause the replay' : 'Replay the run'} title={playing.value ? 'Pause the replay' : 'Replay the run'} onClick={play}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">{playing.value ? <path d="M4 3h3v10H4zM9 3h3v10H9z" /> : <path d="M4 2.500v11l9-5.500z" />}</svg>
    </Button>
    <input type="range" aria-label="Moment of the run" min="0" max={total} step="any" value={offset} aria-valuetext={text}
      onInput={(e: any) => { playing.value = false; held.value = within(Number(e.currentTarget.value)); }} onChange={(e: any) => choose(Number(e.currentTarget.value))}
      onKeyDown={(e: KeyboardEvent) => {
        const by = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[e.key];
        if (!by) return;
        e.preventDefault();
        choose(offset + (by * total) / 100);
      }} />
    <span class="number time-text">{text}</span>
    <Button kind={m.past ? 'primary' : 'quiet'} title={m.over ? 'Show the end of the run' : 'Follow the run'} disabled={!m.past} onClick={() => { playing.value = false; choose(undefined); }}>{m.over ? 'End' : 'Live'}</Button>
  </div>;
}
