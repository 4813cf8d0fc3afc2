/** Named values: the labels and parameters of a run, and what it or a step gives out. */
import { useSignal } from '@preact/signals';
import { parse, shown } from '../json';
import type { RunEvent } from '../types';

const text = (v: unknown): string => shown(v ?? '');

export function Values({ of = {}, label }: { of?: Record<string, unknown>; label: string }) {
  const all = useSignal(false);
  const list = Object.entries(of);
  if (list.length === 0) return null;
  return <div class="run-params" role="group" aria-label={label}>
    {label !== 'Parameters' && <span class="muted">{label}</span>}
    {(all.value ? list : list.slice(0, 8)).map(([name, v]) => <span class="tag" key={name} title={`${name}=${text(v).slice(0, 2000)}`}><b>{name}</b> {text(v).slice(0, 200) || <i>empty</i>}</span>)}
    {list.length > 8 && <button type="button" class="button quiet" onClick={() => { all.value = !all.value; }}>{all.value ? 'Show fewer' : `${list.length - 8} more`}</button>}
  </div>;
}

/** The values with which a question of a step was answered. Who answered when is in the message of the step. */
export function Answer({ events, step }: { events: RunEvent[]; step: string }) {
  const mine = events.filter((e) => e.node === step), end = mine.findLast((e) => e.kind === 'step.finished')?.result;
  if (!end?.stdout?.inline || !mine.some((e) => e.kind === 'step.waiting' && e.result?.wait?.asks)) return null;
  try {
    return <Values of={parse(end.stdout.inline)} label="Answer" />;
  } catch {
    return null; // it is longer than what an event has of it
  }
}
