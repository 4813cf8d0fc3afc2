// What changed between the run and the last good one before it, or the one in the address (?with=RUN).
import { get, useResource } from '../api';
import { clock, duration } from '../format';
import { write } from '../json';
import { Empty, Load, Section } from '../parts';
import { A, pathOf, routed } from '../router';
import { Status, type State } from '../status';
import type { RunList } from '../types';
import type { RunView } from './page';

interface Run { id: string; tool: string; status: State; exit_code: number; origin?: string; flowrun?: string; started: string; duration_ms: number }
interface StepState { status: State; exit_code: number; attempts: number; duration_ms: number }
interface LogChange { stream: string; line: number; before?: string; after?: string }
interface Step { id: string; before?: StepState; after?: StepState; logs?: LogChange[]; notable?: boolean }
/** The document flowrun/run-diff.v1. */
interface Diff {
  before: Run; after: Run;
  definitions: { name: string; before?: string; after?: string; diff: string }[];
  params: { name: string; before?: unknown; after?: unknown }[];
  variables?: { added: string[]; removed: string[] };
  steps: Step[];
}

export function Changes({ id, run }: RunView) {
  const given = routed.value.query.get('with') ?? '';
  const found = useResource(async (abort): Promise<Diff | null> => {
    if (!given) { // a browser logs an answer 404, even if the page expects it
      const good = await get<RunList>('/runs', { tool: run.tool, status: 'succeeded', before: id, limit: 1 }, abort);
      if (!good.runs.length && !good.next) return null;
    }
    try {
      return await get<Diff>(`/runs/${encodeURIComponent(id)}/diff`, given ? { with: given } : {}, abort);
    } catch (e: any) {
      if (e.status === 404 && !given) return null; // they are of another file
      throw e;
    }
  }, [id, given, run.status]);
  return <Load from={found}>{(d) => d === null ? <Empty>No run of {run.tool} before this one succeeded, so there is nothing to compare it with.</Empty> : <Compared d={d} />}</Load>;
}

function Compared({ d }: { d: Diff }) {
  const notable = d.steps.filter((s) => s.notable);
  const names = d.variables ? [...d.variables.added.map((n) => ['added', n]), ...d.variables.removed.map((n) => ['removed', n])] : [];
  return <>
    <Section title="Compared runs"><Two label="How the runs ended" head={['Run', d.before.id, d.after.id]} links rows={[
      ['Status', <Ended of={d.before} />, <Ended of={d.after} />],
      ['Started', clock(d.before.started), clock(d.after.started)],
      ['Duration', duration(d.before.duration_ms), duration(d.after.duration_ms)],
      ...differing('Tool', d.before.tool, d.after.tool),
      ...differing('Trigger', d.before.origin ?? 'cli', d.after.origin ?? 'cli'),
      ...differing('flowrun', d.before.flowrun ?? 'not recorded', d.after.flowrun ?? 'not recorded'),
    ]} /></Section>
    {d.definitions.map((f, i) => <Section key={i} title={f.name} aside={!f.before ? 'new' : !f.after ? 'no longer used' : 'changed'}><Lines of={f.diff} name={f.name} /></Section>)}
    {d.params.length > 0 && <Section title="Parameters"><Two label="Parameters that differ" head={['Name', 'Before', 'After']} rows={d.params.map((p) => [p.name, <Value of={p.before} />, <Value of={p.after} />])} /></Section>}
    {names.length > 0 && <Section title="Environment variables" aside="values are not recorded"><Two label="Environment variables that differ" head={['Name', 'Change']} rows={names.map(([change, name]) => [name, change])} /></Section>}
    {notable.length > 0 && <Section title="Steps"><Two label="Steps that differ" head={['Step', 'Before', 'After']} rows={notable.flatMap((s) => [
      [s.id, <Ended of={s.before} took />, <Ended of={s.after} took />],
      ...(s.logs ?? []).map((l) => [<span class="muted">{l.stream === 'stderr' ? 'standard error' : 'output'}, line {l.line}</span>, <code>{l.before}</code>, <code>{l.after}</code>]),
    ])} /></Section>}
    {d.definitions.length + d.params.length + names.length + notable.length === 0 && <Empty>The runs do not differ in their definitions, parameters, names of environment variables or steps.</Empty>}
  </>;
}

const differing = (name: string, before: string, after: string) => (before === after ? [] : [[name, before, after]]);

function Two({ label, head, rows, links }: { label: string; head: string[]; rows: any[][]; links?: boolean }) {
  return <div class="table-scroll" tabIndex={0} role="region" aria-label={label}><table class="changes"><thead><tr>{head.map((h, i) => <th key={i}>{links && i > 0 ? <A href={pathOf('runs', h)}><code>{h}</code></A> : h}</th>)}</tr></thead>
    <tbody>{rows.map((r, i) => <tr key={i}>{r.map((cell, j) => <td key={j}>{cell}</td>)}</tr>)}</tbody></table></div>;
}

function Ended({ of, took }: { of?: { status: State; exit_code: number; attempts?: number; duration_ms: number }; took?: boolean }) {
  if (!of) return <span class="muted">not there</span>;
  const notes = [of.exit_code ? `exit ${of.exit_code}` : '', (of.attempts ?? 0) > 1 ? `${of.attempts} attempts` : '', took && of.attempts ? duration(of.duration_ms) : ''].filter(Boolean);
  return <Status state={of.status} note={notes.join(', ')} />;
}

function Value({ of }: { of: unknown }) {
  return of === undefined ? <span class="muted">not set</span> : <code>{write(of)}</code>;
}

/** A change as diff -u prints it. */
function Lines({ of, name }: { of: string; name: string }) {
  const names: Record<string, string> = { '+': 'added', '-': 'removed' };
  const lines = of.replace(/\n$/, '').split('\n').slice(2); // without the names of the files
  return <div class="diff" role="region" aria-label={`Changes of ${name}`} tabIndex={0}>{lines.map((l, i) => l.startsWith('@@') ? (i > 0 && <div key={i} class="gap">…</div>)
    : <div key={i} class={names[l[0]] ?? ''}><span class="number" /><span class="mark">{l[0]}<span class="sr-only">{names[l[0]]}</span></span><span>{l.slice(1)}</span></div>)}</div>;
}
