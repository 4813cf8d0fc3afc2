// What can be done with a run: cancel, resume, retry, copy.
import { useSignal } from '@preact/signals';
import { get, mayOperate, send, toError, useResource, type ApiError } from '../api';
import type { Call } from '../command';
import { CopyCommands } from '../copy_commands';
import { attempt, Button, Dialog, LinkButton, Load, Menu, Problem, toast } from '../parts';
import { navigate, pathOf } from '../router';
import { settled } from '../status';
import type { RunDoc } from '../types';

/** How many buttons stand beside the menu. */
const mostButtons = 3;

export function Actions({ run, reload }: { run: RunDoc; reload(): void }) {
  const open = useSignal('');
  const close = () => { open.value = ''; };
  const cancelRetry = async () => {
    if (await attempt(() => send('POST', `/runs/${encodeURIComponent(run.id)}/cancel`, {}), 'The run is not retried')) reload();
  };
  const done = settled(run.status), live = !done || run.steps.some((s) => s.status === 'running');
  const buttons = !mayOperate() ? [] : [
    live && <Button key="cancel" kind="danger" onClick={() => { open.value = 'cancel'; }}>Cancel</Button>,
    done && run.status !== 'succeeded' && <Button key="resume" kind="primary" onClick={() => { open.value = 'resume'; }}>Resume</Button>,
    done && <Button key="retry" onClick={() => { open.value = 'retry'; }}>Retry</Button>,
    run.retry_at && <Button key="cancel-retry" onClick={cancelRetry}>Do not retry automatically</Button>,
    !isPath(run.tool) && <LinkButton key="again" href={`${pathOf('tools', run.tool, 'run')}?from=${run.id}`}>Run again …</LinkButton>,
  ].filter(Boolean);
  return <>
    {buttons.slice(0, mostButtons)}
    <Menu label="More actions">{buttons.slice(mostButtons)}<CopyCommands call={() => call(run)} /></Menu>
    {open.value === 'cancel' && <CancelDialog run={run} close={close} />}
    {open.value === 'resume' && <ContinueDialog run={run} action="resume" close={close} done={reload} />}
    {open.value === 'retry' && <ContinueDialog run={run} action="retry" close={close} done={reload} />}
  </>;
}

/** The run as a call that can be made again. Parameters without a value are left to their defaults. */
function call(run: RunDoc): Call {
  const all = Object.entries(run.params ?? {}).filter(([name, v]) => v !== null && v !== '***' && !run.withheld?.includes(name));
  return { tool: run.tool, params: Object.fromEntries(all), secrets: run.withheld ?? [] };
}

/** Retries a run from one step, after it showed what that does. */
export function RetryFrom({ run, step }: { run: RunDoc; step: string }) {
  const open = useSignal(false);
  if (!mayOperate() || !settled(run.status)) return null;
  return <>
    <Button onClick={() => { open.value = true; }}>Retry from here</Button>
    {open.value && <ContinueDialog run={run} action="retry" from={step} close={() => { open.value = false; }} done={() => {}} />}
  </>;
}

function CancelDialog({ run, close }: { run: RunDoc; close(): void }) {
  const busy = useSignal(false), problem = useSignal<ApiError | undefined>(undefined);
  const go = async () => {
    busy.value = true;
    try {
      await send('POST', `/runs/${encodeURIComponent(run.id)}/cancel`, {});
      toast('The run was asked to stop');
      close();
    } catch (e) {
      problem.value = toError(e);
      busy.value = false;
    }
  };
  return <Dialog title={`Cancel this run of ${run.tool}?`} onClose={close}>
    <p>Its steps are stopped. Cleanup still runs.</p>
    {problem.value && <Problem error={problem.value} />}
    <div class="actions"><Button onClick={close}>Back</Button><Button kind="primary" busy={busy.value} onClick={go}>Cancel the run</Button></div>
  </Dialog>;
}

interface Preview { keeps: string[]; again: string[]; first: string[]; waiting: string[]; asks: string[]; lost: string[]; cleaned: { step: string; by: string }[] }

/** Shows which results are kept and what runs, then resumes or retries the run. */
function ContinueDialog({ run, action, from, close, done }: { run: RunDoc; action: 'resume' | 'retry'; from?: string; close(): void; done(): void }) {
  const path = `/runs/${encodeURIComponent(run.id)}/${action}`;
  const preview = useResource((abort) => get<Preview>(path, { from }, abort));
  const busy = useSignal(false), problem = useSignal<ApiError | undefined>(undefined);
  const go = async () => {
    busy.value = true;
    try {
      const r = await send<{ id: string }>('POST', path, from ? { from: [from] } : {});
      toast(action === 'resume' ? 'The run continues' : 'A new run has started');
      close();
      if (r.id === run.id) done();
      else navigate(pathOf('runs', r.id));
    } catch (e) {
      problem.value = toError(e);
      busy.value = false;
    }
  };
  const p = preview.data.value;
  const nothing = p && p.again.length + p.first.length + p.waiting.length + p.lost.length === 0;
  return <Dialog title={from ? `Retry from ${from}` : action === 'resume' ? 'Resume this run' : 'Retry as a new run'} onClose={close}>
    <p class="muted">{action === 'resume' ? 'The same run continues with the definitions that it started with.' : 'A new run starts. It reuses the results that are kept.'}</p>
    <Load from={preview}>{(d) => <div class="preview">
      <StepList title="Runs again" steps={d.again} class="s-running" />
      <StepList title="Runs for the first time" steps={d.first} class="s-running" />
      <StepList title="Keeps its result" steps={d.keeps} class="s-reused" />
      <StepList title="Still waits" steps={d.waiting} class="s-waiting" />
      <StepList title="Counts as failed: flowrun was killed while it ran" steps={d.lost} class="s-failed" />
      <StepList title="May have been running when flowrun was killed" steps={d.asks} class="s-interrupted" />
      {d.asks.length > 0 && <p class="note">Check whether these steps may run twice. Then resume the run with <code>flowrun resume {run.id} --rerun-interrupted</code>.</p>}
      {d.cleaned.length > 0 && <p class="note">Note: {d.cleaned[0].by} ran after {d.cleaned.map((c) => c.step).join(', ')}. If it undid their work, retry from them instead.</p>}
    </div>}</Load>
    {nothing && <p>No step is left to run{action === 'retry' ? '. To run a step again, choose Retry from here beside it' : ''}.</p>}
    {problem.value && <Problem error={problem.value} />}
    <div class="actions"><Button onClick={close}>Back</Button>
      <Button kind="primary" busy={busy.value} disabled={!p || p.asks.length > 0 || nothing} onClick={go}>{action === 'resume' ? 'Resume' : 'Start the new run'}</Button></div>
  </Dialog>;
}

function StepList({ title, steps, class: name }: { title: string; steps: string[]; class: string }) {
  if (steps.length === 0) return null;
  return <div class={`step-list ${name}`}><h3>{title} <span class="badge">{steps.length}</span></h3>
    <p>{steps.slice(0, 40).map((s) => <code key={s}>{s}</code>)}{steps.length > 40 && <span class="muted">and {steps.length - 40} more</span>}</p></div>;
}

/** Whether a run was started with the path of a file: then the service has no page of its tool. */
export const isPath = (tool: string) => /[/\\]/.test(tool);
