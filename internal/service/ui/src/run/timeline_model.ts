// What a timeline shows: its rows, and the critical path.
import { isSettled, parentOf, withoutKeys, type RunState, type StepState } from './fold';
import type { GraphDoc, Ways } from './graph_model';

export interface Row { path: string; name: string; depth: number; step?: StepState; holds: boolean; folded: boolean; more?: number }

/** Items of a loop that are listed before the rest is folded. */
const shownItems = 20;

/**
 * Returns the rows: the steps in plan order, those inside a step below it, and the items of a
 * loop in the order in which they began. Steps that the plan does not know, such as cleanup,
 * come last.
 */
export function rowsOf(ways: Ways, r: RunState, isOpen: (path: string) => boolean): Row[] {
  const rows: Row[] = [];
  const list = (parent: string, template: string, steps: StepState[], depth: number) => {
    const known = new Map(steps.map((s) => [withoutKeys(s.path), s]));
    for (const n of ways.inside.get(template) ?? []) {
      const path = parent ? `${parent}/${n.name}` : n.name, s = known.get(n.id);
      known.delete(n.id);
      add(path, n.name, n.id, s, depth);
    }
    for (const s of known.values()) add(s.path, s.path.slice(parent ? parent.length + 1 : 0), withoutKeys(s.path), s, depth);
  };
  const add = (path: string, name: string, template: string, s: StepState | undefined, depth: number) => {
    const items = s?.children.filter((c) => c.path.endsWith(']')) ?? [], holds = items.length > 0 || !!ways.inside.get(template)?.length || !!s?.children.length;
    const open = isOpen(path);
    rows.push({ path, name, depth, step: s, holds, folded: !open });
    if (!open || !s) return;
    if (items.length === 0) {
      if (holds && s.items === undefined) list(path, template, s.children, depth + 1);
      return;
    }
    const listed = items.length > shownItems ? items.filter((c) => c.state !== 'succeeded' && c.state !== 'reused' && c.state !== 'skipped').slice(0, shownItems) : items;
    for (const c of listed) {
      rows.push({ path: c.path, name: c.path.slice(c.path.lastIndexOf('[')), depth: depth + 1, step: c, holds: c.children.length > 0, folded: !isOpen(c.path) });
      if (isOpen(c.path) && c.children.length) list(c.path, template, c.children, depth + 2);
    }
    if (listed.length < items.length) rows.push({ path: path + '[…]', name: '', depth: depth + 1, holds: false, folded: false, more: items.length - listed.length });
  };
  list('', '', r.children, 0);
  return rows;
}

/**
 * Returns the paths of the steps that determined when the run ended, the last one first: from
 * the step that ended last, always the upstream step that ended last.
 */
export function criticalPath(doc: GraphDoc, ways: Ways, r: RunState): string[] {
  const ended = new Map<string, number>();
  for (const n of doc.nodes) {
    const s = r.steps.get(n.id);
    if (s?.began !== undefined && s.state !== 'skipped') ended.set(n.id, s.ended ?? r.last ?? s.began);
    else {
      const last = latest(ways.up.get(n.id) ?? [], ended); // a step that did not run settled with what it waited for
      if (last !== undefined && !n.join && s && isSettled(s.state)) ended.set(n.id, ended.get(last)!);
    }
  }
  const ran = (id: string) => r.steps.get(id)?.began !== undefined && r.steps.get(id)!.state !== 'skipped';
  const inside = (id: string): string => {
    const last = latest((ways.inside.get(id) ?? []).map((n) => n.id).filter(ran), ended);
    return last === undefined ? id : inside(last);
  };
  const path: string[] = [], seen = new Set<string>();
  let at: string | undefined = latest((ways.inside.get('') ?? []).map((n) => n.id).filter(ran), ended);
  if (at !== undefined) at = inside(at);
  while (at !== undefined && !seen.has(at)) {
    seen.add(at);
    if (ran(at)) path.push(at);
    let up: string | undefined;
    for (let i = at; i && up === undefined; i = parentOf(i)) up = latest(ways.up.get(i) ?? [], ended);
    at = up === undefined ? undefined : inside(up);
  }
  return path;
}

/** Returns the step that ended last, the later one in the list if two ended at once. */
function latest(ids: string[], ended: Map<string, number>): string | undefined {
  let last: string | undefined;
  for (const id of ids) {
    const t = ended.get(id);
    if (t !== undefined && (last === undefined || t >= ended.get(last)!)) last = id;
  }
  return last;
}

/** Returns the marks of an axis of that length in milliseconds, and at most about n of them. */
export function marks(total: number, n: number): number[] {
  const nice = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3, 900e3, 1800e3, 3600e3, 7200e3, 14400e3, 28800e3, 43200e3, 86400e3];
  let step = nice.find((s) => total / s <= n) ?? 86400e3;
  while (total / step > n) step *= 2;
  const list = [];
  for (let t = 0; t <= total; t += step) list.push(t);
  return list;
}
