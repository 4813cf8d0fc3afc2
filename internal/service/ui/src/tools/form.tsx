// The form of a tool, made from its parameters.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { ApiError, get, mayOperate, send, toError, useResource } from '../api';
import { CopyCommands } from '../copy_commands';
import { belongs, Fields, givenText, read, useTexts } from '../fields';
import { Button, Menu, Problem, Section } from '../parts';
import { navigate, pathOf, routed, setQuery } from '../router';
import type { GraphDoc } from '../run/graph_model';
import { DryRun } from './dryrun';
import type { Plan, Tool } from './types';
import type { RunList } from '../types';
import { ago } from '../format';

const masked = '***';

export function RunForm({ tool }: { tool: Tool }) {
  const texts = useTexts('form:' + tool.name, tool.fields), error = useSignal<ApiError | undefined>(undefined), busy = useSignal(''), plan = useSignal<{ plan: Plan; graph: GraphDoc } | undefined>(undefined);
  const from = routed.value.query.get('from'), form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    if (!from) return;
    get<{ params?: Record<string, unknown> }>(`/runs/${encodeURIComponent(from)}`).then(({ params = {} }) => {
      texts.value = Object.fromEntries(tool.fields.filter((f) => !f.secret && f.name in params && params[f.name] !== masked).map((f) => [f.name, givenText(f, params[f.name])]));
    }, (e) => { error.value = toError(e); });
  }, [from]);

  const refuse = (e: ApiError) => {
    error.value = e;
    setTimeout(() => form.current?.querySelector<HTMLElement>('.field.bad :is(input, select, textarea)')?.focus());
  };
  const submit = async (what: 'run' | 'dry-run') => {
    if (!form.current!.reportValidity()) return;
    const { values: params, problems } = read(tool.fields, texts.value);
    if (problems.length) return refuse(new ApiError(422, 'invalid-parameters', 'Some values cannot be read.', '', problems));
    busy.value = what;
    try {
      const path = `/tools/${encodeURIComponent(tool.name)}/`;
      if (what === 'dry-run') {
        const [p, graph] = await Promise.all([send<Plan>('POST', path + 'dry-run', { params }), get<GraphDoc>(path + 'graph')]);
        plan.value = { plan: p, graph };
      } else navigate(pathOf('runs', (await send<{ id: string }>('POST', '/runs', { tool: tool.name, params })).id));
      error.value = undefined;
    } catch (e) {
      plan.value = undefined;
      refuse(toError(e));
    }
    busy.value = '';
  };
  const call = () => {
    const { values: params } = read(tool.fields, texts.value), secrets = tool.fields.filter((f) => f.secret && f.name in params).map((f) => f.name);
    secrets.forEach((name) => delete params[name]);
    return { tool: tool.name, params, secrets };
  };
  const problems = error.value?.problems ?? [];
  const others = problems.filter((p) => !tool.fields.some((f) => belongs(p, f)));

  return <>
    {error.value && (others.length > 0 || problems.length === 0) && <Problem error={new ApiError(error.value.status, error.value.code, error.value.message, problems.length ? '' : error.value.hint, others)} />}
    <Section title={from ? `Run with the values of ${from}` : 'Run'} class="run-form">
      <form ref={form} class="form" onSubmit={(e: Event) => { e.preventDefault(); submit('run'); }} noValidate={false}>
        {tool.fields.length === 0 && <p class="muted">This tool has no parameters.</p>}
        {tool.fields.length > 0 && <Presets tool={tool.name} />}
        <Fields fields={tool.fields} texts={texts} problems={problems} prefix="param-" />
        <div class="actions">
          {mayOperate() && <Button kind="primary" type="submit" busy={busy.value === 'run'}>Run</Button>}
          {mayOperate() && <Button onClick={() => submit('dry-run')} busy={busy.value === 'dry-run'}>Dry run</Button>}
          {Object.values(texts.value).some((v) => v !== '') && <Button kind="quiet" onClick={() => { texts.value = {}; error.value = plan.value = undefined; }}>Clear</Button>}
          <Menu label="More actions"><CopyCommands call={() => call()} /></Menu>
        </div>
      </form>
    </Section>
    {plan.value && <DryRun {...plan.value} />}
  </>;
}

/** Fills the form with the values of an earlier run. */
function Presets({ tool }: { tool: string }) {
  const runs = useResource((abort) => get<RunList>('/runs', { tool, limit: 20, params: 1 }, abort), tool).data.value?.runs ?? [];
  const text = (params: Record<string, string> = {}) => Object.entries(params).filter(([, v]) => v !== '').map(([name, v]) => `${name}=${v}`).join(' ');
  const distinct = runs.filter((r, i) => text(r.params) !== '' && runs.findIndex((o) => text(o.params) === text(r.params)) === i);
  if (distinct.length === 0) return null;
  return <p class="field"><select aria-label="Values of an earlier run" value="" onChange={(e: any) => { if (e.currentTarget.value) setQuery({ from: e.currentTarget.value }); }}><option value="">Values of an earlier run …</option>
    {distinct.map((r) => <option key={r.id} value={r.id}>{`${text(r.params).slice(0, 80)} (${r.status}, ${ago(r.started)})`}</option>)}</select></p>;
}
