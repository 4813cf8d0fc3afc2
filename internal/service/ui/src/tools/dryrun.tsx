// What a run would do: its steps in order, with their commands.
import { Section } from '../parts';
import { count } from '../format';
import type { GraphDoc } from '../run/graph_model';
import { SmallGraph } from './graph';
import type { Plan, PlanStep } from './types';

export function DryRun({ plan, graph }: { plan: Plan; graph?: GraphDoc }) {
  const waves = new Map<number, PlanStep[]>();
  for (const s of plan.steps.filter((s) => !s.id.includes('/'))) waves.set(s.wave, [...(waves.get(s.wave) ?? []), s]);
  return <Section title="Dry run" aside={`${count(plan.steps.length, 'step')}, nothing was started`} class="dry-run">
    <div class="body">
      <Asks plan={plan} />
      {graph && <SmallGraph doc={graph} />}
      {[...waves].sort(([a], [b]) => a - b).map(([wave, steps]) => <div class="wave" key={wave}>
        <h3>{wave === 1 ? 'First' : 'Then'}</h3>
        <ul>{steps.map((s) => <Step key={s.id} step={s} all={plan.steps} />)}</ul>
      </div>)}
    </div>
  </Section>;
}

/** What the tools of the plan ask for. */
function Asks({ plan }: { plan: Plan }) {
  const rows: [string, string][] = (plan.missing_secrets ?? []).map((m) => ['Missing secret', m]);
  for (const t of plan.tools) {
    const who = t.step ? `${t.step}: ` : '';
    t.permissions?.forEach((p) => rows.push(['Permission', who + p.resolved]));
    t.secret_sources?.forEach((s) => rows.push(['Secret', who + s]));
    t.cleanup?.forEach((c) => rows.push(['At the end', who + c]));
    t.notify?.forEach((n) => rows.push(['Notifies', who + n]));
    if (t.execution_privilege === 'elevated') rows.push(['Rights', who + 'elevated']);
  }
  plan.needs?.forEach((n) => rows.push(['Lock', n.name ?? n.tool ?? '']));
  return rows.length === 0 ? null : <dl class="facts">{rows.map(([what, text], i) => <div key={i}><dt>{what}</dt><dd><code>{text}</code></dd></div>)}</dl>;
}

function Step({ step: s, all }: { step: PlanStep; all: PlanStep[] }) {
  const inside = all.filter((o) => o.id.startsWith(s.id + '/') && !o.id.slice(s.id.length + 1).includes('/'));
  return <li class={s.verdict === 'false' ? 'plan-step off' : 'plan-step'}>
    <div class="row"><strong>{s.id.slice(s.id.lastIndexOf('/') + 1)}</strong><span class="tag">{s.kind}</span>
      {s.handler && <span class="tag">{s.handler}</span>}{s.loop && <span class="tag">for each of {s.loop}</span>}</div>
    {s.condition && <div class="muted">if <code>{s.condition}</code>: {s.verdict}{s.why ? `, ${s.why}` : ''}</div>}
    {s.problem && <div class="field-problem">{s.problem}</div>}
    {s.command && <pre tabIndex={0}>{s.command}</pre>}
    {s.fallback && <><div class="muted">if all attempts fail</div><pre tabIndex={0}>{s.fallback}</pre></>}
    {inside.length > 0 && <ul>{inside.map((o) => <Step key={o.id} step={o} all={all} />)}</ul>}
  </li>;
}
