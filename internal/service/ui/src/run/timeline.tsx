// When each step of a run was queued, ran, waited and was tried again.
import './timeline.css';
import { useMemo, useRef, useLayoutEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { duration, used } from '../format';
import { Empty, Load } from '../parts';
import { routed, setQuery } from '../router';
import { Glyph, settled, word } from '../status';
import { Virtual } from '../virtual';
import { durations, nameOf, type Interval } from './fold';
import { useRunGraph } from './graph_tab';
import { waysOf, type GraphDoc } from './graph_model';
import type { RunView } from './page';
import { criticalPath, marks, rowsOf, type Row } from './timeline_model';

export function Timeline(p: RunView) {
  const doc = useRunGraph(p.id);
  return <Load from={doc}>{(graph) => <Chart {...p} doc={graph} />}</Load>;
}

function Chart({ run, events, moment: m, doc }: RunView & { doc: GraphDoc }) {
  const toggled = useSignal<ReadonlySet<string>>(new Set());
  const chart = useRef<HTMLDivElement>(null), width = useSignal(600);
  useLayoutEffect(() => {
    const resize = new ResizeObserver(() => { if (chart.current) width.value = chart.current.clientWidth; }); // it can outlive the chart
    resize.observe(chart.current!);
    return () => resize.disconnect();
  }, []);
  const ways = useMemo(() => waysOf(doc), [doc]);
  const r = m.state, selected = routed.value.query.get('step') ?? '';
  const rows = useMemo(() => rowsOf(ways, r, (path) => toggled.value.has(path) !== (path.split('/').length < 3 && !path.endsWith(']'))), [ways, r, events.length, toggled.value]);
  const path = useMemo(() => criticalPath(doc, ways, r), [doc, ways, r, events.length]);
  const critical = useMemo(() => new Set(path), [path]);
  if (r.began === undefined) return <div ref={chart} class="timeline section"><Empty>The run has not started yet.</Empty></div>;
  const began = r.began, total = Math.max(1, m.end - began);
  const place = (t: number) => ((Math.max(began, Math.min(t, m.end)) - began) / total) * 100;
  const busy = path.reduce((sum, id) => sum + durations(r.steps.get(id)!, m.at).took, 0);
  const toggle = (at: string) => {
    const next = new Set(toggled.value);
    if (!next.delete(at)) next.add(at);
    toggled.value = next;
  };
  const chosen = rows.findIndex((row) => row.path === selected || row.step?.latest === selected);
  return <div ref={chart} class="timeline section">
    <div class="timeline-legend" aria-hidden="true">
      {(['queue', 'run', 'retry', 'wait'] as const).map((k) => <span key={k}><svg width="22" height="10"><rect class={`bar ${k} s-running`} x="0" y="0" width="22" height="10" rx="2" /></svg>{{ queue: 'in the queue', run: 'running', retry: 'pause before the next attempt', wait: 'waiting' }[k]}</span>)}
      <span><i class="critical-mark" />critical path</span>
    </div>
    <Hatches />
    <div class="timeline-axis"><span class="name" /><div class="lane">
      {marks(total, Math.max(2, (width.value - 380) / 90)).map((t) => <span key={t} class="mark number" style={{ left: `${(t / total) * 100}%` }}>{t === 0 ? '0' : duration(t)}</span>)}
    </div><span class="took" /></div>
    <Virtual class="timeline-rows" label="Steps over time" count={rows.length} height={28} show={chosen >= 0 ? chosen : undefined} row={(i) =>
      <TimeRow key={rows[i].path} row={rows[i]} place={place} at={m.at} past={m.past} selected={i === chosen} critical={critical.has(rows[i].path)} over={settled(run.status) && !m.past} toggle={toggle}
        took={rows[i].step?.began !== undefined && rows[i].step!.state !== 'skipped' ? duration(durations(rows[i].step!, m.at).took) : ''} />} />
    {path.length > 0 && <p class="timeline-summary"><strong>Critical path</strong> {path.length > 8 && '… → '}{path.slice(0, 8).reverse().map((id, i) => <span key={id}>{i > 0 && ' → '}<button type="button" class="link" onClick={() => setQuery({ step: id })}>{nameOf(id)}</button></span>)}
      <span class="muted"> {duration(busy)} of {duration(durations(r, m.at).took)}</span></p>}
  </div>;
}

/** The patterns of bars. Every kind of time has its own, so that colour alone never tells it. */
function Hatches() {
  return <svg class="hatches" width="0" height="0" aria-hidden="true"><defs>
    <pattern id="hatch-queue" width="4" height="4" patternUnits="userSpaceOnUse"><circle cx="2" cy="2" r="0.9" /></pattern>
    <pattern id="hatch-retry" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2" height="5" /></pattern>
    <pattern id="hatch-wait" width="5" height="5" patternUnits="userSpaceOnUse"><rect width="5" height="1.600" /></pattern>
  </defs></svg>;
}

interface TimeRowProps { row: Row; place(t: number): number; at: number; past: boolean; selected: boolean; critical: boolean; over: boolean; took: string; toggle(path: string): void }

function TimeRow({ row, place, at, past, selected, critical, over, took, toggle }: TimeRowProps) {
  const s = row.step;
  if (row.more) return <div class="time-row muted" role="listitem"><span class="name" style={{ paddingLeft: indent(row.depth) }}>{row.more} more items succeeded or are not listed</span></div>;
  const state = s ? (over && s.state === 'running' ? 'interrupted' : s.state) : 'pending';
  const bars = s && state !== 'skipped' && state !== 'reused' ? s.intervals : [];
  return <div class={['time-row', selected && 'current', critical && 'critical'].filter(Boolean).join(' ')} role="listitem" onClick={() => setQuery({ step: s?.latest ?? row.path })}>
    <span class="name clip" style={{ paddingLeft: indent(row.depth) }}>
      {row.holds && s ? <button type="button" class="toggle" aria-expanded={!row.folded} aria-label={`Steps in ${row.path}`} onClick={(e: MouseEvent) => { e.stopPropagation(); toggle(row.path); }}>{row.folded ? '▸' : '▾'}</button> : <span class="toggle" />}
      <Glyph state={state} size={14} /> <button type="button" class="link" title={row.path} aria-label={`${row.path}, ${word(state)}${took ? ', ' + took : ''}${critical ? ', on the critical path' : ''}`}>{row.name}</button>
    </span>
    <svg class="lane" aria-hidden="true">
      {bars.map((b, i) => <TimeBarRect key={i} bar={b} state={b.to === undefined || i === bars.length - 1 ? state : b.result?.status ?? state} place={place} at={at} holds={row.holds} />)}
      {past && <line class="moment" x1={`${place(at)}%`} x2={`${place(at)}%`} y1="0" y2="28" />}
    </svg>
    <span class="took number">{took}</span>
  </div>;
}

const indent = (depth: number) => `${6 + Math.min(depth, 8) * 16}px`;

function TimeBarRect({ bar: b, state, place, at, holds }: { bar: Interval; state: string; place(t: number): number; at: number; holds: boolean }) {
  const x = place(b.from), to = b.to ?? at, width = Math.max(0, place(to) - x);
  const title = `${b.kind === 'run' ? `attempt ${b.attempt}` : { queue: 'in the queue', fallback: 'fallback', retry: 'pause before the next attempt', wait: 'waiting' }[b.kind]}, ${duration(to - b.from) || '0 ms'}${used(b.result?.usage)}`;
  return <rect class={`bar ${b.kind} s-${state}${holds ? ' holds' : ''}`} x={`${x}%`} width={`${width}%`} y={holds ? 11 : 7} height={holds ? 6 : 14} rx="2"><title>{title}</title></rect>;
}
