// Why a run failed: the step, what it printed last, and how often the tool fails.
import { get, useResource } from '../api';
import { ago } from '../format';
import { A } from '../router';
import type { RunDoc, StepDoc } from '../types';
import type { Stats } from '../tools/types';
import { isPath, RetryFrom } from './actions';
import { spans } from './ansi';
import { explain, Glyph, word } from '../status';
import { failedStates, firstInteresting, readEnd, type Lines } from './logs';
import { tabHref } from './page';

/** The box of a run that failed. Where its log is what the page opens with, the last lines are not shown again. */
export function Failure({ run, lines }: { run: RunDoc; lines: boolean }) {
  const step = run.steps.some((s) => failedStates.includes(s.status)) ? firstInteresting(run.steps) : undefined;
  return <section class={`failure s-${run.status}`} aria-label="Why the run failed">
    <p class="reason">{run.message || word(run.status)}</p>
    {step && <header><Glyph state={step.status} /> <strong>{step.id}</strong> <span class="muted">{[word(step.status), step.exit_code ? `exit code ${step.exit_code}` : '', step.attempts > 1 ? `${step.attempts} attempts` : ''].filter(Boolean).join(', ')}</span></header>}
    {step && explain(step) && explain(step) !== `exit code ${step.exit_code}` && !run.message?.includes(explain(step)) && <p class="message">{explain(step)}</p>}
    {/* What is read later stands behind what can be clicked, which must not move. */}
    <footer><A href={tabHref(run.id, 'changes')}>What has changed since it last succeeded?</A>
      {step && <RetryFrom run={run} step={step.id} />}
      <How run={run} /></footer>
    {step && lines && <End id={run.id} step={step} />}
  </section>;
}

const shown = 10;

/** The last lines of a step, each a link to its place in the log. */
function End({ id, step }: { id: string; step: StepDoc }) {
  const read = useResource((abort) => readEnd(id, step.id, shown, abort), [id, step.id, step.attempts]);
  const w: Lines | undefined = read.data.value;
  if (!w || w.lines.length === 0) return null;
  return <div class="failure-lines" role="region" tabIndex={0} aria-label={`The end of the ${w.stream === 'stderr' ? 'standard error' : 'output'} of ${step.id}`}>
    {w.lines.map((text, i) => <A key={i} href={tabHref(id, 'logs', { step: step.id, stream: w.stream!, line: String(w.from + i) })}>{spans(text).map((s, j) => <span key={j} class={s.class} style={s.style}>{s.text}</span>)}{'\n'}</A>)}
  </div>;
}

/** How often the tool fails, and since when. */
function How({ run }: { run: RunDoc }) {
  const stats = useResource((abort) => (isPath(run.tool) ? Promise.resolve(undefined) : get<Stats>(`/tools/${encodeURIComponent(run.tool)}/stats`, { limit: 30 }, abort)), [run.tool, run.id]).data.value;
  if (!stats || stats.total.runs < 2) return null;
  const list = stats.history.runs, good = list.findIndex((r) => r.status === 'succeeded'), row = good < 0 ? list : list.slice(0, good);
  return <span>{stats.total.runs - stats.total.succeeded} of the last {stats.total.runs} runs failed{row.length > 1 && <>, the last {row.length} in a row, since <time title={row.at(-1)!.started}>{ago(row.at(-1)!.started)}</time></>}</span>;
}
