// A graph of steps that can be moved and zoomed. Only what can be seen is in the document, and
// from afar nodes are drawn without their texts, so that thousands of steps stay smooth.
import './graph.css';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { signal, useComputed, useSignal, type ReadonlySignal, type Signal } from '@preact/signals';
import { count, duration } from '../format';
import { useKeys } from '../keys';
import { announcement, Button } from '../parts';
import { shape, word, type State } from '../status';
import { durations } from './fold';
import { countText, linePath, walk, waysOf, type GraphDoc, type GraphNode, type NodeState } from './graph_model';

/** The part of the drawing that is seen: the place of its corner on the screen, and the scale. */
interface View { x: number; y: number; k: number }

const margin = 24, smallest = 0.02, largest = 2.5;
/** Below this scale, texts cannot be read and are left out. */
const textScale = 0.4;

export interface GraphProps {
  doc: GraphDoc;
  states?: Map<string, NodeState>;
  /** The moment until which the durations count. */
  at?: number;
  selected: string;
  select(id: string): void;
  open?(id: string): void;
}

/** The graph, with its tools: search, zoom, minimap. */
/** Whether the next graph that appears gets the focus. */
export const wantsFocus = signal(false);

export function Graph(p: GraphProps) {
  const { doc } = p;
  const box = useRef<HTMLDivElement>(null);
  const view = useSignal<View>({ x: margin, y: margin, k: 1 }), size = useSignal({ w: 0, h: 0 }), find = useSignal('');
  const ways = useMemo(() => waysOf(doc), [doc]);
  const shapes = useMemo(() => shapesOf(doc, p.states), [doc, p.states]);
  const part = useComputed(() => partOf(view.value, size.value));
  const moved = useRef(false); // by the reader: then it stays where it is
  const fit = () => {
    moved.current = false;
    view.value = fitted(doc, size.peek());
  };
  useLayoutEffect(() => {
    const el = box.current!;
    if (wantsFocus.peek()) el.focus();
    wantsFocus.value = false;
    moved.current = false;
    const resize = new ResizeObserver(() => {
      size.value = { w: el.clientWidth, h: el.clientHeight };
      if (!moved.current) fit();
    });
    resize.observe(el);
    return () => resize.disconnect();
  }, [doc]);
  const zoom = (by: number, cx = size.peek().w / 2, cy = size.peek().h / 2) => {
    moved.current = true;
    const v = view.peek(), k = Math.max(smallest, Math.min(largest, v.k * by));
    view.value = { k, x: cx - ((cx - v.x) * k) / v.k, y: cy - ((cy - v.y) * k) / v.k };
  };
  const show = (id: string) => {
    const n = ways.nodes.get(id), v = view.peek(), { w, h } = size.peek();
    if (!n || !w) return;
    const k = Math.max(v.k, 0.7), x = v.x + n.x * v.k, y = v.y + n.y * v.k;
    if (v.k >= textScale && x > 0 && y > 0 && x + n.w * v.k < w && y + n.h * v.k < h) return;
    moved.current = true;
    view.value = { k, x: w / 2 - (n.x + n.w / 2) * k, y: h / 2 - (n.y + Math.min(n.h, 60) / 2) * k };
  };
  useLayoutEffect(() => { if (p.selected && size.value.w) show(p.selected); }, [p.selected, size.value.w > 0]);
  const choose = (id: string) => {
    p.select(id);
    const n = ways.nodes.get(id);
    if (n) announcement.value = labelOf(n, p.states?.get(id));
  };
  const pick = (x: number, y: number) => { // from afar, steps are no elements of their own
    const v = view.peek(), gx = (x - v.x) / v.k, gy = (y - v.y) / v.k;
    const at = v.k < textScale ? doc.nodes.findLast((n) => !n.join && n.x <= gx && gx <= n.x + n.w && n.y <= gy && gy <= n.y + n.h) : undefined;
    return at?.id ?? '';
  };
  const found = useMemo(() => {
    const text = find.value.trim().toLowerCase();
    return text ? doc.nodes.filter((n) => !n.join && (n.id.toLowerCase().includes(text) || n.kind?.toLowerCase().includes(text) || p.states?.get(n.id)?.state === text)) : [];
  }, [find.value, doc]);
  useLayoutEffect(() => { if (find.value) announcement.value = count(found.length, 'step'); }, [found]);
  const next = (back: boolean) => {
    if (found.length === 0) return;
    const i = found.findIndex((n) => n.id === p.selected);
    choose(found[(i + (back ? -1 : 1) + found.length) % found.length].id);
  };
  const onKey = (e: KeyboardEvent) => {
    const to = walk(ways, p.selected, e.key), pan = ({ '+': 1.25, '=': 1.25, '-': 0.8 } as Record<string, number>)[e.key];
    if (to) choose(to);
    else if (pan) zoom(pan);
    else if (e.key === '0') fit();
    else if (e.key === 'Enter' && p.selected) p.open?.(p.selected);
    else if (e.key === 'Escape' && p.selected) p.select('');
    else return;
    e.preventDefault();
  };
  useKeys([{ keys: 'f', does: 'Go to the graph', run: () => box.current?.focus() }]);
  const steps = doc.nodes.length - doc.nodes.filter((n) => n.join).length;
  return <div class="graph">
    <div class="graph-tools">
      <input data-search type="search" aria-label="Find steps in the graph" placeholder="Find steps" value={find.value}
        onInput={(e: any) => { find.value = e.currentTarget.value; }} onKeyDown={(e: KeyboardEvent) => { if (e.key === 'Enter') { e.preventDefault(); next(e.shiftKey); } }} />
      {find.value && <span class="muted">{found.length} found</span>}
      <span class="grow" />
      <span class="muted number">{count(steps, 'step')}</span>
      <Button kind="quiet" aria-label="Zoom out" onClick={() => zoom(0.8)}>−</Button>
      <ZoomText view={view} />
      <Button kind="quiet" aria-label="Zoom in" onClick={() => zoom(1.25)}>+</Button>
      <Button kind="quiet" onClick={fit}>Fit</Button>
    </div>
    <div ref={box} class="graph-box" tabIndex={0} role="listbox" aria-label="Graph of the steps. Arrow keys walk along the edges, Enter opens the log." onKeyDown={onKey}
      aria-activedescendant={p.selected ? domID(p.selected) : undefined} {...usePointer(view, moved, zoom, (x, y) => choose(pick(x, y)))}>
      <svg class="graph-svg" role="presentation">
        <Moved view={view}><Drawing {...p} select={choose} shapes={shapes} part={part} found={find.value ? new Set(found.map((n) => n.id)) : undefined} /></Moved>
      </svg>
      <Minimap doc={doc} shapes={shapes} view={view} size={size} />
    </div>
  </div>;
}

const domID = (id: string) => 'node-' + id;

function labelOf(n: GraphNode, s?: NodeState): string {
  return [n.id, s ? word(s.state) : n.kind, s?.counts && `items: ${countText(s)}`, n.condition && `if ${n.condition}`].filter(Boolean).join(', ');
}

function fitted(doc: GraphDoc, size: { w: number; h: number }): View {
  if (!size.w) return { x: margin, y: margin, k: 1 };
  const k = Math.max(smallest, Math.min(1, (size.w - 2 * margin) / Math.max(doc.width, 1), (size.h - 2 * margin) / Math.max(doc.height, 1)));
  return { k, x: (size.w - doc.width * k) / 2, y: Math.max(margin, Math.min(80, (size.h - doc.height * k) / 2)) };
}

function ZoomText({ view }: { view: Signal<View> }) {
  return <span class="muted number zoom">{Math.round(view.value.k * 100)} %</span>;
}

/** Moves its children without drawing them again. */
function Moved({ view, children }: { view: Signal<View>; children?: any }) {
  const { x, y, k } = view.value;
  return <g transform={`translate(${x} ${y}) scale(${k})`}>{children}</g>;
}

/** Dragging moves the drawing, two fingers and the wheel with Ctrl zoom it. */
function usePointer(view: Signal<View>, byReader: { current: boolean }, zoom: (by: number, cx: number, cy: number) => void, clicked: (x: number, y: number) => void) {
  const held = useRef(new Map<number, { x: number; y: number }>()).current, moved = useRef(0);
  const wheel = useRef<((e: WheelEvent) => void) | undefined>(undefined);
  wheel.current = (e) => {
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    const r = (e.currentTarget as Element).getBoundingClientRect();
    zoom(Math.exp(-e.deltaY / 300), e.clientX - r.left, e.clientY - r.top);
  };
  return {
    onWheel: (e: WheelEvent) => wheel.current!(e),
    onPointerDown: (e: PointerEvent) => {
      if (e.button) return;
      held.set(e.pointerId, { x: e.clientX, y: e.clientY });
      moved.current = 0;
    },
    onPointerMove: (e: PointerEvent) => {
      const was = held.get(e.pointerId);
      if (!was) return;
      const el = e.currentTarget as HTMLElement, r = el.getBoundingClientRect();
      const dx = e.clientX - was.x, dy = e.clientY - was.y;
      moved.current += Math.abs(dx) + Math.abs(dy);
      if (moved.current > 4 && !el.hasPointerCapture(e.pointerId)) el.setPointerCapture(e.pointerId);
      const other = [...held].find(([id]) => id !== e.pointerId)?.[1];
      held.set(e.pointerId, { x: e.clientX, y: e.clientY });
      if (other) {
        const before = Math.hypot(was.x - other.x, was.y - other.y), after = Math.hypot(e.clientX - other.x, e.clientY - other.y);
        if (before > 0) zoom(after / before, (e.clientX + other.x) / 2 - r.left, (e.clientY + other.y) / 2 - r.top);
        return;
      }
      if (moved.current <= 4) return;
      byReader.current = true;
      view.value = { ...view.peek(), x: view.peek().x + dx, y: view.peek().y + dy };
    },
    onPointerUp: (e: PointerEvent) => { held.delete(e.pointerId); },
    onPointerCancel: (e: PointerEvent) => { held.delete(e.pointerId); },
    onClick: (e: MouseEvent) => {
      const r = (e.currentTarget as Element).getBoundingClientRect();
      if (moved.current <= 4 && !(e.target as Element).closest('.node')) clicked(e.clientX - r.left, e.clientY - r.top);
    },
  };
}

/**
 * Returns the part of the drawing that is in the document: left, top, right, bottom, and whether
 * texts can be read. It is a text, and changes in steps of half of what is seen, so that most
 * moves change nothing.
 */
function partOf({ x, y, k }: View, { w, h }: { w: number; h: number }): string {
  const stepX = 2 ** Math.ceil(Math.log2(Math.max(w / k / 2, 1))), stepY = 2 ** Math.ceil(Math.log2(Math.max(h / k / 2, 1)));
  const left = (Math.floor(-x / k / stepX) - 0.5) * stepX, top = (Math.floor(-y / k / stepY) - 0.5) * stepY;
  return [left, top, left + 4 * stepX, top + 4 * stepY, k >= textScale ? 1 : 0].join();
}

type DrawingProps = GraphProps & { shapes: Shapes; part: ReadonlySignal<string>; found?: Set<string> };

/** Everything in the graph that can be seen, and a little around it. */
function Drawing({ doc, states, at, selected, select, open, shapes, part, found }: DrawingProps) {
  const [left, top, right, bottom, texts] = part.value.split(',').map(Number);
  const lines = useMemo(() => {
    let all = '';
    for (const e of doc.edges) {
      const last = e.points.length - 1;
      if (e.points[1] > bottom || e.points[last] < top) continue;
      let low = Infinity, high = -Infinity;
      for (let i = 0; i <= last; i += 2) {
        low = Math.min(low, e.points[i]);
        high = Math.max(high, e.points[i]);
      }
      if (low <= right && high >= left) all += linePath(e.points);
    }
    return all;
  }, [doc, left, top, right, bottom]);
  const near = useMemo(() => doc.edges.filter((e) => e.from === selected || e.to === selected).map((e) => linePath(e.points)).join(''), [doc, selected]);
  const nodes = useMemo(() => doc.nodes.filter((n) => n.x <= right && n.x + n.w >= left && n.y <= bottom && n.y + n.h >= top), [doc, left, top, right, bottom]);
  const groups = nodes.filter((n) => n.steps), others = nodes.filter((n) => !n.steps);
  const node = (n: GraphNode) => <Node key={n.id} node={n} state={states?.get(n.id)} known={!!states} time={timeText(states?.get(n.id), at)}
    selected={n.id === selected} faded={!!found && !found.has(n.id)} select={select} open={open} />;
  if (!texts) { // a few paths instead of an element for each step
    return <g class="far">
      {groups.map((n) => <rect key={n.id} class={`s-${states?.get(n.id)?.state ?? 'pending'}`} x={n.x} y={n.y} width={n.w} height={n.h} />)}
      <path class="edges" d={lines} />
      {shapes.map(([state, d]) => <path key={state} class={`steps s-${state}${found ? ' faded' : ''}`} d={d} />)}
      {found && shapesOf({ ...doc, nodes: doc.nodes.filter((n) => found.has(n.id)) }, states).map(([state, d]) => <path key={'found ' + state} class={`steps s-${state}`} d={d} />)}
    </g>;
  }
  return <g>
    {groups.map(node)}
    <path class="edges" d={lines} />
    {near && <path class="edges near" d={near} />}
    {others.map(node)}
  </g>;
}

/** How long a step took, or what its items did. */
function timeText(s: NodeState | undefined, at?: number): string {
  if (!s) return '';
  if (s.counts) return countText(s);
  const { step } = s;
  if (!step || step.began === undefined || at === undefined || step.state === 'skipped' || step.state === 'reused') return '';
  return duration(durations(step, at).took);
}

interface NodeProps { node: GraphNode; state?: NodeState; known: boolean; time: string; selected: boolean; faded: boolean; select(id: string): void; open?(id: string): void }

function Node({ node: n, state: s, known, time, selected, faded, select, open }: NodeProps) {
  if (n.join) return <circle class="join" cx={n.x} cy={n.y} r="3" />;
  const state: State | undefined = known ? s?.state ?? 'pending' : undefined;
  const classes = ['node', n.steps ? 'holds' : '', state ? `s-${state}` : '', selected ? 'selected' : '', faded ? 'faded' : '', n.condition ? 'when' : ''].filter(Boolean).join(' ');
  const inset = state ? 36 : 12, room = n.w - inset - 8, name = cut(n.name, room, 'name');
  const second = state ? secondLine(n, s, state, time) : [n.kind, n.note].filter(Boolean).join(' · ');
  return <g id={domID(n.id)} class={classes} role="option" aria-selected={selected}
    onClick={() => select(n.id)} onDblClick={() => open?.(n.id)}>
    {n.loop && <rect class="stack" x={n.x + 5} y={n.y + 5} width={n.w} height={n.h} rx="8" />}
    <rect x={n.x} y={n.y} width={n.w} height={n.h} rx="8" />
    {state && <svg class={`glyph s-${state}`} x={n.x + 11} y={n.y + (n.steps ? 10 : 14)} width="16" height="16" viewBox="0 0 16 16">{shape(state)}</svg>}
    <text x={n.x + inset} y={n.y + (n.steps ? 23 : 19)}>{name}{n.steps && <tspan class="second" dx="8">{cut(second, room - 8 - widthOf(name, 'name'), 'second')}</tspan>}</text>
    {!n.steps && <text class="second" x={n.x + inset} y={n.y + 35}>{cut(second, room, 'second')}</text>}
    <title>{labelOf(n, known ? s ?? { state: 'pending', total: 0 } : undefined)}</title>
  </g>;
}

/** What is written below the name of a step of a run. */
function secondLine(n: GraphNode, s: NodeState | undefined, state: State, time: string): string {
  if (s?.counts) return time;
  const plain = state === 'succeeded' || state === 'pending' || state === 'running';
  return [plain ? '' : word(state), time].filter(Boolean).join(' · ') || n.kind || '';
}

const pen = document.createElement('canvas').getContext('2d')!;

/** The width of a text as graph.css writes it: the name of a step, or what is below it. */
function widthOf(text: string, as: 'name' | 'second'): number {
  pen.font = `${as === 'name' ? '550 13px' : '11px'} ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

/** The beginning of a text that has room. */
function cut(text: string, room: number, as: 'name' | 'second'): string {
  if (widthOf(text, as) <= room) return text;
  let from = 0, to = text.length; // that many letters have room, and have none
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (widthOf(text.slice(0, middle) + '…', as) <= room) from = middle;
    else to = middle;
  }
  return from ? text.slice(0, from) + '…' : '';
}

/** The rectangles of all steps, by state, each as the d of one path. */
type Shapes = [state: string, d: string][];

function shapesOf(doc: GraphDoc, states?: Map<string, NodeState>): Shapes {
  const by = new Map<string, string>();
  for (const n of doc.nodes) {
    if (n.join || n.steps) continue;
    const state = states ? states.get(n.id)?.state ?? 'pending' : 'pending';
    by.set(state, (by.get(state) ?? '') + `M${n.x} ${n.y}h${n.w}v${n.h}h${-n.w}z`);
  }
  return [...by];
}

/** The whole graph in a corner, when it is larger than what is seen. */
function Minimap({ doc, shapes, view, size }: { doc: GraphDoc; shapes: Shapes; view: Signal<View>; size: Signal<{ w: number; h: number }> }) {
  const v = view.value, { w, h } = size.value;
  if (!w || w < 500 || (doc.width * v.k <= w && doc.height * v.k <= h)) return null;
  const scale = Math.min(180 / doc.width, 130 / doc.height), width = Math.max(24, doc.width * scale), height = Math.max(24, doc.height * scale);
  const move = (e: PointerEvent) => {
    e.stopPropagation();
    if (e.type === 'pointermove' && !e.buttons) return;
    const r = (e.currentTarget as Element).getBoundingClientRect(), { k } = view.peek();
    view.value = { k, x: w / 2 - ((e.clientX - r.left) / r.width) * doc.width * k, y: h / 2 - ((e.clientY - r.top) / r.height) * doc.height * k };
  };
  return <svg class="minimap" width={width} height={height} viewBox={`0 0 ${doc.width} ${doc.height}`} preserveAspectRatio="none" aria-hidden="true" onPointerDown={move} onPointerMove={move} onClick={(e: MouseEvent) => e.stopPropagation()}>
    {shapes.map(([state, d]) => <path key={state} class={`s-${state}`} d={d} />)}
    <rect class="seen" x={-v.x / v.k} y={-v.y / v.k} width={w / v.k} height={h / v.k} />
  </svg>;
}
