// What a graph of steps shows, apart from how it looks: the states of its nodes, and the ways
// between them.
import type { State } from '../status';
import { withoutKeys, type RunState, type StepState } from './fold';

export interface GraphNode {
  id: string; name: string; kind?: string; condition?: string; note?: string; loop?: boolean; parent?: string; steps?: number; join?: boolean;
  x: number; y: number; w: number; h: number;
}
export interface GraphEdge { from: string; to: string; points: number[] }

/** A graph with places, as the API has it. */
export interface GraphDoc { width: number; height: number; nodes: GraphNode[]; edges: GraphEdge[] }

/** What a node shows of a run. A node in a loop stands for the steps of all items. */
export interface NodeState { state: State; step?: StepState; counts?: Map<State, number>; total: number }

const order: State[] = ['failed', 'timed-out', 'interrupted', 'running', 'retrying', 'waiting', 'cancelled', 'succeeded', 'reused', 'skipped', 'pending'];

/** Returns the states of the nodes by id. over is whether nobody runs the run any more: what ran then is interrupted. */
export function nodeStates(r: RunState, over: boolean): Map<string, NodeState> {
  const all = new Map<string, NodeState>();
  const stateOf = (s: StepState): State => (over && (s.state === 'running' || s.state === 'retrying') ? 'interrupted' : s.state);
  const count = (n: NodeState, s: StepState) => {
    n.counts ??= new Map();
    n.counts.set(stateOf(s), (n.counts.get(stateOf(s)) ?? 0) + 1);
  };
  for (const s of r.steps.values()) {
    const id = withoutKeys(s.path);
    let n = all.get(id);
    if (!n) all.set(id, (n = { state: 'pending', total: 0 }));
    if (id === s.path) {
      n.step = s;
      n.state = stateOf(s);
      n.total = Math.max(n.total, s.items ?? 0);
    } else if (s.path.endsWith(']') || s.items === undefined) {
      count(n, s);
    }
  }
  for (const n of all.values()) {
    if (!n.counts) continue;
    let sum = 0;
    for (const c of n.counts.values()) sum += c;
    n.total = Math.max(n.total, sum);
    if (!n.step) n.state = order.find((s) => n.counts!.has(s)) ?? 'pending';
  }
  return all;
}

/** 3 of 5, 1 failed */
export function countText(n: NodeState): string {
  let done = 0;
  const bad = [];
  for (const [s, c] of n.counts ?? []) {
    if (!['pending', 'running', 'retrying', 'waiting'].includes(s)) done += c;
    if (s === 'failed' || s === 'timed-out' || s === 'interrupted') bad.push(`${c} ${s === 'timed-out' ? 'timed out' : s}`);
  }
  return [`${done} of ${n.total}`, ...bad].join(', ');
}

/** The neighbours of the nodes. Joins are passed over. */
export interface Ways { up: Map<string, string[]>; down: Map<string, string[]>; inside: Map<string, GraphNode[]>; nodes: Map<string, GraphNode> }

export function waysOf(doc: GraphDoc): Ways {
  const nodes = new Map(doc.nodes.map((n) => [n.id, n]));
  const raw = { up: new Map<string, string[]>(), down: new Map<string, string[]>() };
  const add = (m: Map<string, string[]>, key: string, value: string) => { m.get(key)?.push(value) ?? m.set(key, [value]); };
  for (const e of doc.edges) {
    add(raw.down, e.from, e.to);
    add(raw.up, e.to, e.from);
  }
  const through = (m: Map<string, string[]>, id: string, found = new Set<string>()): Set<string> => {
    for (const next of m.get(id) ?? []) {
      if (!nodes.get(next)?.join) found.add(next);
      else if (!found.has('@' + next)) {
        found.add('@' + next); // a join that was passed
        through(m, next, found);
      }
    }
    return found;
  };
  const ways: Ways = { up: new Map(), down: new Map(), inside: new Map(), nodes };
  for (const n of doc.nodes) {
    if (n.join) continue;
    ways.up.set(n.id, [...through(raw.up, n.id)].filter((id) => nodes.has(id)));
    ways.down.set(n.id, [...through(raw.down, n.id)].filter((id) => nodes.has(id)));
    const list = ways.inside.get(n.parent ?? '');
    if (list) list.push(n);
    else ways.inside.set(n.parent ?? '', [n]);
  }
  return ways;
}

/** Returns the node that an arrow key leads to. */
export function walk(ways: Ways, from: string, key: string): string | undefined {
  const at = ways.nodes.get(from);
  if (!at) return ways.inside.get('')?.[0]?.id;
  const middle = (n: GraphNode) => n.x + n.w / 2;
  const nearest = (ids: string[]) => ids.map((id) => ways.nodes.get(id)!).sort((a, b) => Math.abs(middle(a) - middle(at)) - Math.abs(middle(b) - middle(at)))[0]?.id;
  switch (key) {
    case 'ArrowDown': return nearest(ways.down.get(from) ?? []) ?? ways.inside.get(from)?.[0]?.id;
    case 'ArrowUp': return nearest(ways.up.get(from) ?? []) ?? at.parent;
    case 'ArrowRight':
    case 'ArrowLeft': {
      const sign = key === 'ArrowRight' ? 1 : -1;
      const beside = (ways.inside.get(at.parent ?? '') ?? []).filter((n) => (middle(n) - middle(at)) * sign > 0);
      const far = (n: GraphNode) => Math.abs(middle(n) - middle(at)) + 3 * Math.abs(n.y + n.h / 2 - at.y - at.h / 2);
      return beside.sort((a, b) => far(a) - far(b))[0]?.id;
    }
  }
  return undefined;
}

/** Returns a line through points (x, y, x, y, ...) with round corners, as the d of a path. */
export function linePath(p: number[]): string {
  const toward = (a: number, b: number) => a + Math.sign(b - a) * Math.min(6, Math.abs(b - a) / 2);
  let d = `M${p[0]} ${p[1]}`;
  for (let k = 2; k < p.length - 2; k += 2) {
    const [x0, y0, x, y, x1, y1] = p.slice(k - 2, k + 4);
    d += `L${toward(x, x0)} ${toward(y, y0)}Q${x} ${y} ${toward(x, x1)} ${toward(y, y1)}`;
  }
  return d + `L${p[p.length - 2]} ${p[p.length - 1]}`;
}
