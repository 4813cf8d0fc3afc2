// The graph of a run at a moment, and beside it what is known of the chosen step.
import { useMemo } from 'preact/hooks';
import { get, useResource } from '../api';
import { clock, duration, spent } from '../format';
import { Button, Load } from '../parts';
import { A, navigate, routed, setQuery } from '../router';
import { Glyph, settled, Status, word } from '../status';
import { RetryFrom } from './actions';
import { Kept } from './steps';
import { Answer, Values } from './values';
import { durations, nameOf, withoutKeys, type Interval, type StepState } from './fold';
import { Graph } from './graph';
import { countText, nodeStates, type GraphDoc, type GraphNode, type NodeState } from './graph_model';
import { tabHref, type RunView } from './page';

let latest: { id: string; doc: Promise<GraphDoc> } | undefined;

/** Reads the graph of a run, which never changes. Tabs that show the same run share it. */
export function readGraph(id: string): Promise<GraphDoc> {
  if (latest?.id === id) return latest.doc;
  const doc = get<GraphDoc>(`/runs/${encodeURIComponent(id)}/graph`);
  latest = { id, doc };
  doc.catch(() => { if (latest?.doc === doc) latest = undefined; });
  return doc;
}

export const useRunGraph = (id: string) => useResource(() => readGraph(id), id);

export function GraphTab(p: RunView) {
  const { id, run, events, moment: m } = p;
  const doc = useRunGraph(id), over = settled(run.status) && !m.past;
  const states = useMemo(() => nodeStates(m.state, over), [m.state, events.length, over]);
  const selected = withoutKeys(routed.value.query.get('step') ?? '');
  return <Load from={doc}>{(graph) => {
    const node = graph.nodes.find((n) => n.id === selected);
    return <div class={node ? 'run-graph with-panel' : 'run-graph'}>
      <Graph doc={graph} states={states} at={m.at} selected={selected} select={(step) => setQuery({ step })}
        open={(step) => navigate(tabHref(id, 'logs', { step }))} />
      {node && <Panel {...p} node={node} state={states.get(node.id)} />}
    </div>;
  }}</Load>;
}

/** What is known of one step at the moment. */
function Panel({ id, run, events, moment: m, node, state }: RunView & { node: GraphNode; state?: NodeState }) {
  const step = state?.step, r = step?.result, s = state?.state ?? 'pending';
  const items = state?.counts ? [...m.state.steps.values()].filter((c) => c.path !== node.id && withoutKeys(c.path) === node.id) : [];
  const kept = run.steps.find((o) => o.id === (step?.latest ?? node.id));
  const active = items.filter((c) => !['succeeded', 'reused', 'skipped', 'pending'].includes(c.state));
  return <aside class={`panel s-${s}`} aria-label={`Step ${node.id}`}>
    <header><div><h2>{node.id}</h2><Status state={s} note={r?.tolerated ? 'tolerated' : undefined} /></div>
      <Button kind="quiet" aria-label="Close" onClick={() => setQuery({ step: null })}>×</Button></header>
    {r?.message && <p class="message">{r.message}</p>}
    <dl>
      {node.kind && <><dt>Runs</dt><dd>{node.kind}</dd></>}
      {node.note && <><dt>When</dt><dd>{node.note}</dd></>}
      {node.condition && <><dt>Condition</dt><dd><code>{node.condition}</code></dd></>}
      {state?.counts && <><dt>Items</dt><dd>{countText(state)}</dd></>}
      {r && r.exit_code !== 0 && <><dt>Exit code</dt><dd class="number">{r.exit_code}</dd></>}
      {r?.reason && <><dt>Reason</dt><dd>{r.reason}</dd></>}
      {step?.began !== undefined && s !== 'skipped' && <><dt>Started</dt><dd class="number">{clock(new Date(step.began).toISOString())}</dd>
        <dt>Took</dt><dd class="number">{spent(durations(step, m.at))}</dd>
        {s === 'interrupted' && run.last_sign && <><dt>Last sign of life</dt><dd class="number">{clock(run.last_sign)}</dd></>}</>}
      {step?.due !== undefined && !settled(s) && <><dt>{s === 'retrying' ? 'Next attempt' : 'Waits until'}</dt><dd class="number">{clock(new Date(step.due).toISOString())}</dd></>}
    </dl>
    <Values of={r?.outputs?.values} label="Outputs" />
    {step && settled(s) && <Answer events={events} step={step.latest} />}
    {kept && <Kept run={id} of={kept} />}
    {step && step.intervals.length > 1 && <Attempts step={step} at={m.at} />}
    {active.length > 0 && <><h3>Items</h3><ul>{active.slice(0, 20).map((c) => <li key={c.path}><Glyph state={c.state} size={14} />
      <A class="clip" href={tabHref(id, 'logs', { step: c.latest })} title={c.path}>{node.loop ? nameOf(c.path) : c.path}</A><span class="sr-only">{word(c.state)}</span></li>)}
      {active.length > 20 && <li class="muted">{active.length - 20} more</li>}</ul></>}
    <div class="actions"><A class="button" href={tabHref(id, 'logs', { step: step?.latest ?? node.id })}>Log</A>
      {step && <RetryFrom run={run} step={step.path} />}</div>
  </aside>;
}

const kinds: Record<Interval['kind'], string> = { queue: 'queue', run: 'attempt', fallback: 'fallback', retry: 'pause', wait: 'wait' };

function Attempts({ step, at }: { step: StepState; at: number }) {
  return <><h3>Attempts</h3><table><tbody>
    {step.intervals.map((i, n) => <tr key={n}><td>{kinds[i.kind]}{i.kind === 'run' ? ` ${i.attempt}` : ''}</td>
      <td>{i.result ? <><Glyph state={i.result.status} size={14} /> <span class="sr-only">{word(i.result.status)}</span>{i.result.exit_code ? `exit ${i.result.exit_code}` : ''}</> : ''}</td>
      <td class="number">{duration((i.to ?? at) - i.from)}</td></tr>)}
  </tbody></table></>;
}
