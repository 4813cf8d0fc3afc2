// Who holds which lock or slots of a pool, and who waits for them.
import './locks.css';
import { get, useResource } from './api';
import { count } from './format';
import { Empty, Load, Page, Section, Time } from './parts';
import { A, pathOf } from './router';
import { Glyph, type State } from './status';
import { useChanges } from './stream';

interface Lock { name: string; slots: number; used: number; rate?: string; holders: string[]; waiting: string[] }
interface ActiveRun { id: string; tool: string; status: State; started: string; message?: string }
interface Ps { runs: ActiveRun[]; locks: Lock[]; pools: Lock[]; limits: Lock[] }

export function Locks() {
  const ps = useResource((abort) => get<Ps>('/ps', {}, abort));
  useChanges(ps.reload, (e) => /^(run|step)\./.test(e.kind));
  return <Page title="Locks">
    <Load from={ps}>{(d) => <>
      <Section title="Locks" aside={count(d.locks.length, 'lock')}><Table locks={d.locks} runs={d.runs} none="No run holds a lock or waits for one." /></Section>
      <Section title="Pools"><Table locks={d.pools} runs={d.runs} none="No step uses a pool or waits for one." /></Section>
      <Section title="Limits of active runs" aside="max-active-runs"><Table locks={d.limits} runs={d.runs} none="No tool with a limit is active." /></Section>
    </>}</Load>
  </Page>;
}

function Table({ locks, runs, none }: { locks: Lock[]; runs: ActiveRun[]; none: string }) {
  if (locks.length === 0) return <Empty>{none}</Empty>;
  return <div class="table-scroll"><table class="locks"><thead><tr><th>Name</th><th>In use</th><th>Held by</th><th>Waiting, in this order</th></tr></thead>
    <tbody>{locks.map((l) => <tr key={l.name}>
      <td><strong>{l.name}</strong></td>
      <td class="number">{l.used} of {l.slots}{l.rate && `, ${l.rate}`}</td>
      <td><Runs ids={l.holders} runs={runs} /></td>
      <td><Runs ids={l.waiting} runs={runs} /></td>
    </tr>)}</tbody></table></div>;
}

function Runs({ ids, runs }: { ids: string[]; runs: ActiveRun[] }) {
  if (ids.length === 0) return <span class="muted">nobody</span>;
  return <ol>{ids.map((id) => { // RUN or RUN/STEP
    const run = id.split('/')[0], r = runs.find((o) => o.id === run);
    return <li key={id}><Glyph state={r?.status ?? 'pending'} size={14} /> <A href={pathOf('runs', run)}>{r?.tool ?? 'run'} <code class="muted">{id}</code></A> {r && <span class="muted"><Time at={r.started} /></span>}</li>;
  })}</ol>;
}
