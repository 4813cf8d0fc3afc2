// A table of runs, for lists.
import './run_table.css';
import type { RunRow } from './types';
import { A, pathOf } from './router';
import { duration, now } from './format';
import { Status } from './status';
import { Time } from './parts';

/** Who started a run, in words. */
export function trigger(origin = ''): string {
  const [kind, name] = [origin.split(':')[0], origin.slice(origin.indexOf(':') + 1)];
  switch (kind) {
    case '': return 'command line';
    case 'api': return 'API';
    case 'mcp': return 'MCP';
    case 'call': return 'model';
    case 'detach': return 'detached';
    case 'schedule': case 'webhook': case 'file': case 'after': return `${kind} ${name}`;
  }
  return origin;
}

/** How long a run or a step took: until its end, or the last sign of life of an interrupted run; so far if it goes on or waits. */
export function elapsed(r: { started?: string; ended?: string; last_sign?: string; duration_ms?: number }): string {
  const end = r.ended ?? r.last_sign;
  if (!r.started) return '';
  if (end && r.duration_ms !== undefined) return duration(r.duration_ms);
  return duration(Math.max(0, (end ? Date.parse(end) : now.value) - Date.parse(r.started)));
}

/** Parameters in one line. */
export function ParamText({ params }: { params?: Record<string, string> }) {
  const list = Object.entries(params ?? {}).filter(([, v]) => v !== '');
  return <span class="params" title={list.map(([name, v]) => `${name}=${v}`).join(' ').slice(0, 2000)}>{list.slice(0, 6).map(([name, v]) => <span key={name}><b>{name}</b>={v} </span>)}{list.length > 6 ? '…' : ''}</span>;
}

/** A mark that leads to the artifacts of a run, if it has any. */
export function KeptMark({ of: r }: { of: RunRow }) {
  return r.artifacts ? <A class="kept-mark" href={pathOf('runs', r.id, 'artifacts')} title="Artifacts"><svg class="glyph" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path class="line" d="M11.500 5v6a3.500 3.500 0 0 1-7 0V4.200a2.200 2.200 0 0 1 4.400 0V10.500a.9.9 0 0 1-1.800 0V5" /></svg><span class="sr-only">Artifacts of run {r.id}</span></A> : null;
}

/** The table. With selected it has a column of check boxes; current is the row of the keyboard. */
export function RunTable(p: { runs: RunRow[]; selected?: Set<string>; toggle?: (id: string) => void; toggleAll?: () => void; current?: number }) {
  return <div class="table-scroll runs-box"><table class="runs">
    <thead><tr>
      {p.selected && <th class="check"><input type="checkbox" aria-label="Select all runs of this page" checked={p.runs.length > 0 && p.runs.every((r) => p.selected!.has(r.id))} onChange={p.toggleAll} /></th>}
      <th>Status</th><th>Run</th><th>Trigger</th><th>Started</th><th class="end">Duration</th>
    </tr></thead>
    <tbody>{p.runs.map((r, i) => <tr key={r.id} class={i === p.current ? 'current' : ''} ref={i === p.current ? scrollTo : undefined}>
      {p.selected && <td class="check"><input type="checkbox" aria-label={`Select run ${r.id}`} checked={p.selected.has(r.id)} onChange={() => p.toggle!(r.id)} /></td>}
      <td class="state"><Status state={r.status} note={r.notes?.join(', ')} /></td>
      <td class="what"><div><span class="clip"><A href={pathOf('runs', r.id)} class="tool" title={r.tool}>{r.tool}</A> <code class="id">{r.id}</code> <KeptMark of={r} /></span>
        <span class="detail clip">{r.message && !['running', 'succeeded'].includes(r.status) && <span>{r.message} </span>}{r.retry_at && <span>next attempt <Time at={r.retry_at} absolute /> </span>}<ParamText params={r.params} /></span></div></td>
      <td class="muted clip trigger">{r.retry_of ? 'retry' : trigger(r.origin)}</td>
      <td class="muted"><Time at={r.started} /></td>
      <td class="number end">{elapsed(r)}</td>
    </tr>)}</tbody>
  </table></div>;
}

function scrollTo(row: HTMLElement | null) {
  row?.scrollIntoView({ block: 'nearest' });
}
