import { useSignal } from '@preact/signals';
import { get, useResource } from '../api';
import { Load } from '../parts';
import { routed, setQuery } from '../router';
import { Graph } from '../run/graph';
import type { GraphDoc } from '../run/graph_model';

/** The graph of a tool. The chosen step is in the address. */
export function ToolGraph({ name }: { name: string }) {
  const doc = useResource((abort) => get<GraphDoc>(`/tools/${encodeURIComponent(name)}/graph`, {}, abort), name);
  return <Load from={doc}>{(graph) => <Graph doc={graph} selected={routed.value.query.get('step') ?? ''} select={(step) => setQuery({ step })} />}</Load>;
}

/** A graph beside something else. */
export function SmallGraph({ doc }: { doc: GraphDoc }) {
  const selected = useSignal('');
  return <div class="small-graph"><Graph doc={doc} selected={selected.value} select={(step) => { selected.value = step; }} /></div>;
}
