// The history of a tool: how often it succeeds, how long it takes, and how each step ended in each run.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { get, useResource } from '../api';
import { Button, Empty, Load, Section } from '../parts';
import { A, pathOf, routed, setQuery } from '../router';
import { clock, count, duration } from '../format';
import { Glyph, word } from '../status';
import { useChanges } from '../stream';
import type { Stats, Tally } from './types';

export const percent = (share: number) => `${share === 1 || share === 0 ? 100 * share : (100 * share).toFixed(1)} %`;

/** The durations of runs as bars, oldest first. */
export function Sparkline({ runs }: { runs: Stats['history']['runs'] }) {
  const list = [...runs].reverse(), most = Math.max(1, ...list.map((r) => r.duration_ms));
  const text = `Durations of the last ${count(list.length, 'run')}, at most ${duration(most)}`;
  return <svg class="sparkline" role="img" aria-label={text} viewBox={`0 0 ${list.length * 7} 28`} width={list.length * 7} height={28}>
    {list.map((r, i) => {
      const height = Math.max(2, 26 * r.duration_ms / most);
      return <rect key={r.id} class={`s-${r.status}`} x={i * 7} width="5" y={28 - height} height={height} rx="1"><title>{`${clock(r.started)}: ${word(r.status)}, ${duration(r.duration_ms)}`}</title></rect>;
    })}
  </svg>;
}

export function History({ tool }: { tool: string }) {
  const limit = routed.value.query.get('limit') ?? '30';
  const stats = useResource((abort) => get<Stats>(`/tools/${encodeURIComponent(tool)}/stats`, { limit }, abort), [tool, limit]);
  useChanges(stats.reload, (e) => e.tool === tool && e.kind === 'run.finished', 2000);
  return <Load from={stats}>{(s) => s.total.runs === 0 ? <Section title="History"><Empty>No run of this tool has ended yet.</Empty></Section> : <>
    <Numbers total={s.total}><div class="spark-link"><Sparkline runs={s.history.runs} /><span>durations</span></div></Numbers>
    <Section title="Steps by run" aside={<label>Runs <select value={limit} onChange={(e: any) => setQuery({ limit: e.currentTarget.value })}>{['10', '30', '100'].map((n) => <option key={n}>{n}</option>)}</select></label>}>
      <Grid history={s.history} />
    </Section>
    <Section title="Durations by step"><div class="table-scroll" tabIndex={0} role="region" aria-label="Durations by step"><table>
      <thead><tr><th>Step</th><th>Runs</th><th>Success</th><th>p50</th><th>p95</th><th>Longest</th></tr></thead>
      <tbody>{s.steps.map((t) => <tr key={t.name}><td><code>{t.name}</code></td><td class="number">{t.runs}</td><td class="number">{percent(t.success_rate)}</td>
        <td class="number">{duration(t.p50_ms)}</td><td class="number">{duration(t.p95_ms)}</td><td class="number">{duration(t.max_ms)}</td></tr>)}</tbody>
    </table></div></Section>
  </>}</Load>;
}

/** The numbers of whole runs. */
export function Numbers({ total, children }: { total: Tally; children?: any }) {
  return <div class="numbers">
    <div><b>{percent(total.success_rate)}</b><span>succeeded</span></div>
    <div><b>{total.runs}</b><span>{total.runs === 1 ? 'run' : 'runs'}</span></div>
    <div><b>{duration(total.p50_ms)}</b><span>p50</span></div>
    <div><b>{duration(total.p95_ms)}</b><span>p95</span></div>
    {children}
  </div>;
}

const firstRows = 100;

function Grid({ history }: { history: Stats['history'] }) {
  const all = useSignal(false), runs = [...history.runs].reverse(); // the newest on the right
  const steps = history.steps, shown = all.value ? steps : steps.slice(0, firstRows);
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => { box.current!.scrollLeft = box.current!.scrollWidth; }, [runs.length]);
  return <div ref={box} class="table-scroll grid-scroll" tabIndex={0} role="region" aria-label="Steps by run">
    <table class="history-grid">
      <thead><tr><th scope="col">Run</th>{runs.map((r) => <th scope="col" key={r.id}>
        <A href={pathOf('runs', r.id)} title={`${clock(r.started)}: ${word(r.status)}, ${duration(r.duration_ms)}`}><Glyph state={r.status} size={14} /><span class="sr-only">{r.id}, {word(r.status)}</span></A></th>)}</tr></thead>
      <tbody>{shown.map((s) => <tr key={s.name}><th scope="row"><code>{s.name}</code></th>
        {[...s.states].reverse().map((state, i) => <td key={runs[i].id}>{state && <A href={`${pathOf('runs', runs[i].id)}?step=${encodeURIComponent(s.name)}`} title={`${s.name}: ${word(state)}, ${clock(runs[i].started)}`}>
          <Glyph state={state} size={14} /><span class="sr-only">{word(state)}</span></A>}</td>)}</tr>)}</tbody>
    </table>
    {shown.length < steps.length && <div class="empty"><Button onClick={() => { all.value = true; }}>Show all {count(steps.length, 'step')}</Button></div>}
  </div>;
}
