// The steps of a run as a list.
import { useLayoutEffect } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { count, used } from '../format';
import { useKeys } from '../keys';
import { announcement, Empty } from '../parts';
import { A, navigate, routed, setQuery } from '../router';
import { elapsed } from '../run_table';
import { explain, Glyph, settled, word, type State } from '../status';
import type { StepDoc } from '../types';
import { Virtual } from '../virtual';
import { RetryFrom } from './actions';
import { tabHref, type RunView } from './page';
import { Answer, Values } from './values';

const groups: Record<string, (s: State) => boolean> = {
  all: () => true,
  failed: (s) => ['failed', 'timed-out', 'interrupted'].includes(s),
  active: (s) => ['running', 'retrying', 'waiting'].includes(s),
  pending: (s) => s === 'pending',
};

/** The depth of a step: how many tools and loops are around it. */
export const depth = (id: string) => (id.match(/\/|\[/g) ?? []).length;

/** The last part of a path: what the step is called inside the tool or loop around it. */
export const lastPart = (id: string) => (id.endsWith(']') ? id.slice(id.lastIndexOf('[')) : id.slice(id.lastIndexOf('/') + 1));

/** The steps that have none inside. */
export function leavesOf(steps: StepDoc[]): StepDoc[] {
  const outer = new Set<string>();
  for (const { id } of steps) {
    for (let i = 0; i < id.length; i++) if (id[i] === '/' || id[i] === '[') outer.add(id.slice(0, i));
  }
  return steps.filter((s) => !outer.has(s.id));
}

export function Steps({ id, run, events }: RunView) {
  const q = routed.value.query, group = groups[q.get('only') ?? ''] ? q.get('only')! : 'all', find = useSignal('');
  const wanted = run.steps.filter((s) => groups[group](s.status) && s.id.toLowerCase().includes(find.value.toLowerCase()));
  const chosen = q.get('step') ?? '', at = wanted.findIndex((s) => s.id === chosen);
  const move = (by: number) => {
    const s = wanted[Math.max(0, Math.min(wanted.length - 1, at + by))];
    if (!s) return;
    setQuery({ step: s.id });
    announcement.value = `${s.id}, ${word(s.status)}`;
  };
  useKeys([
    { keys: 'j', does: 'Next step', run: () => move(1) },
    { keys: 'k', does: 'Previous step', run: () => move(at < 0 ? 1 : -1) },
    { keys: 'Enter', does: 'Open the log of the step', run: () => { if (chosen) navigate(tabHref(id, 'logs', { step: chosen })); } },
  ]);
  useLayoutEffect(() => { if (find.value) announcement.value = count(wanted.length, 'step'); }, [find.value]);
  const failed = run.steps.filter((s) => groups.failed(s.status)).length, active = run.steps.filter((s) => groups.active(s.status)).length, pending = run.steps.filter((s) => s.status === 'pending').length;
  const step = at >= 0 ? wanted[at] : undefined;
  return <>
    <div class="toolbar">
      <input data-search type="search" aria-label="Find steps" placeholder="Find steps" value={find.value} onInput={(e: any) => { find.value = e.currentTarget.value; }} />
      <div class="segments" role="group" aria-label="Which steps">
        {([['all', 'All', run.steps.length], ['failed', 'Failed', failed], ['active', 'Active', active], ['pending', 'Pending', pending]] as const).map(([name, text, n]) =>
          <button type="button" key={name} aria-pressed={group === name} onClick={() => setQuery({ only: name === 'all' ? null : name })}>{text} <span class="muted">{n}</span></button>)}
      </div>
    </div>
    {step && <Detail run={run} events={events} step={step} />}
    <div class="section">
      {wanted.length === 0 ? <Empty>{run.steps.length === 0 ? 'The run has no steps yet.' : 'No step matches.'}</Empty>
        : <Virtual class="steps" label="Steps" count={wanted.length} height={36} show={at >= 0 ? at : undefined} row={(i) => <Row key={wanted[i].id} id={id} step={wanted[i]} chosen={i === at} whole={group !== 'all' || !!find.value} />} />}
    </div>
  </>;
}

function Row({ id, step: s, chosen, whole }: { id: string; step: StepDoc; chosen: boolean; whole: boolean }) {
  return <div class={chosen ? 'step-row current' : 'step-row'} role="listitem" onClick={() => setQuery({ step: s.id })}>
    <span class="name clip" style={{ paddingLeft: whole ? '0' : Math.min(depth(s.id), 8) * 18 + 'px' }}>
      <Glyph state={s.status} /> <A href={tabHref(id, 'logs', { step: s.id })} title={s.id}>{whole ? s.id : lastPart(s.id)}</A><span class="sr-only">, {word(s.status)}</span>
      {s.attempts > 1 && <span class="tag">attempt {s.attempts}</span>}{s.fallback && <span class="tag">fallback</span>}</span>
    <span class="message clip muted">{explain(s)}</span>
    <span class="number" title={used(s.usage).slice(2)}>{elapsed(s)}</span>
  </div>;
}

/** How many artifacts the steps of a run have kept. */
export const keptCount = (steps: { artifacts?: { digest?: string }[] }[]) => steps.reduce((n, s) => n + (s.artifacts?.filter((a) => a.digest).length ?? 0), 0);

/** The artifacts of a step, each a link to its place in the list. */
export function Kept({ run, of: s }: { run: string; of: StepDoc }) {
  const list = s.artifacts?.filter((a) => a.digest) ?? [];
  return list.length === 0 ? null : <p class="kept"><span class="muted">Artifacts</span> {list.map((a) => <A key={a.name} class="tag" href={tabHref(run, 'artifacts', { step: s.id, artifact: a.name })}>{a.name}</A>)}</p>;
}

/** The step that is chosen. */
function Detail({ run, events, step: s }: { run: RunView['run']; events: RunView['events']; step: StepDoc }) {
  return <section class={`detail-box s-${s.status}`} aria-label={`Step ${s.id}`}>
    <header><Glyph state={s.status} /> <strong>{s.id}</strong> <span class="muted">{word(s.status)}{s.exit_code ? `, exit code ${s.exit_code}` : ''}{s.attempts > 1 ? `, ${s.attempts} attempts` : ''}{used(s.usage)}</span>
      <div class="actions"><A class="button" href={tabHref(run.id, 'logs', { step: s.id })}>Log</A><RetryFrom run={run} step={s.id} />
        <button type="button" class="button quiet" aria-label="Close" onClick={() => setQuery({ step: null })}>×</button></div></header>
    {explain(s) && <p class="message">{explain(s)}</p>}
    <Values of={s.outputs} label="Outputs" />
    {settled(s.status) && <Answer events={events} step={s.id} />}
    <Kept run={run.id} of={s} />
  </section>;
}
