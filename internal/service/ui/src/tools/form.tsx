// The form of a tool, made from its parameters.
import { useEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { ApiError, get, mayOperate, send, toError, type Detail } from '../api';
import { asCli, asCurl } from '../command';
import { Button, Copy, Field, Problem, Section } from '../parts';
import { navigate, pathOf, routed } from '../router';
import type { GraphDoc } from '../run/graph_model';
import { DryRun } from './dryrun';
import type { FormField, Plan, Tool } from './types';

const masked = '***';

/** The texts in the fields by name; a missing or empty one is not given. */
type Texts = Record<string, string>;

/** Returns a value as the text of its field. */
function textOf(f: FormField, value: unknown): string {
  if (value === undefined || value === null) return '';
  if (f.type === 'array' && Array.isArray(value) && value.every((v) => typeof v === 'string' && v !== '' && !/[\n[]/.test(v))) return value.join('\n');
  return typeof value === 'string' ? value : JSON.stringify(value, null, typeof value === 'object' ? 2 : 0);
}

/** Returns the value of a field. Numbers stay text, so that they keep all their digits. */
function valueOf(f: FormField, text: string): unknown {
  switch (f.type) {
    case 'boolean':
      return text === 'true';
    case 'object':
      return JSON.parse(text);
    case 'array':
      return /^\s*\[/.test(text) ? JSON.parse(text) : text.split('\n').map((line) => line.trim()).filter(Boolean);
    case 'any':
      try {
        return JSON.parse(text);
      } catch {
        return text;
      }
  }
  return text;
}

/** Returns the values of all fields that are given, and the problems with their texts. */
function read(fields: FormField[], texts: Texts): { params: Record<string, unknown>; problems: Detail[] } {
  const params: Record<string, unknown> = {}, problems: Detail[] = [];
  for (const f of fields) {
    const text = texts[f.name] ?? '';
    if (text === '') continue;
    const choice = f.enum?.findIndex((v) => textOf(f, v) === text) ?? -1;
    try {
      params[f.name] = choice >= 0 ? f.enum![choice] : valueOf(f, text);
    } catch (e: any) {
      problems.push({ name: f.name, code: 'json', message: `This is not JSON: ${e.message}` });
    }
  }
  return { params, problems };
}

export function RunForm({ tool }: { tool: Tool }) {
  const texts = useSignal<Texts>({}), error = useSignal<ApiError | undefined>(undefined), busy = useSignal(''), plan = useSignal<{ plan: Plan; graph: GraphDoc } | undefined>(undefined);
  const from = routed.value.query.get('from'), form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (!from) return;
    get<{ params?: Record<string, unknown> }>(`/runs/${encodeURIComponent(from)}`).then(({ params = {} }) => {
      texts.value = Object.fromEntries(tool.fields.filter((f) => !f.secret && f.name in params && params[f.name] !== masked).map((f) => [f.name, textOf(f, params[f.name])]));
    }, (e) => { error.value = toError(e); });
  }, [from]);

  const refuse = (e: ApiError) => {
    error.value = e;
    setTimeout(() => form.current?.querySelector<HTMLElement>('.field.bad :is(input, select, textarea)')?.focus());
  };
  const submit = async (what: 'run' | 'dry-run') => {
    if (!form.current!.reportValidity()) return;
    const { params, problems } = read(tool.fields, texts.value);
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
    const { params } = read(tool.fields, texts.value), secrets = tool.fields.filter((f) => f.secret && f.name in params).map((f) => f.name);
    secrets.forEach((name) => delete params[name]);
    return { tool: tool.name, params, secrets };
  };
  const problems = error.value?.problems ?? [];
  const problemOf = (f: FormField) => problems.filter((p) => belongs(p, f)).map((p) => sentence(p)).join(' ');
  const others = problems.filter((p) => !tool.fields.some((f) => belongs(p, f)));

  return <>
    {error.value && (others.length > 0 || problems.length === 0) && <Problem error={new ApiError(error.value.status, error.value.code, error.value.message, problems.length ? '' : error.value.hint, others)} />}
    <Section title={from ? `Run with the values of ${from}` : 'Run'} class="run-form">
      <form ref={form} class="form" onSubmit={(e: Event) => { e.preventDefault(); submit('run'); }} noValidate={false}>
        {tool.fields.length === 0 && <p class="muted">This tool has no parameters.</p>}
        {tool.fields.map((f) => <Input key={f.name} field={f} value={texts.value[f.name] ?? ''} problem={problemOf(f)}
          onChange={(text) => { texts.value = { ...texts.value, [f.name]: text }; }} />)}
        <div class="actions">
          {mayOperate() && <Button kind="primary" type="submit" busy={busy.value === 'run'}>Run</Button>}
          {mayOperate() && <Button onClick={() => submit('dry-run')} busy={busy.value === 'dry-run'}>Dry run</Button>}
          <Copy kind="quiet" text={() => asCli(call())}>Copy as CLI</Copy>
          <Copy kind="quiet" text={() => asCurl(call())}>Copy as curl</Copy>
          {Object.values(texts.value).some(Boolean) && <Button kind="quiet" onClick={() => { texts.value = {}; error.value = plan.value = undefined; }}>Clear</Button>}
        </div>
      </form>
    </Section>
    {plan.value && <DryRun {...plan.value} />}
  </>;
}

const belongs = (p: Detail, f: FormField) => p.name === f.name || p.name.startsWith(f.name + '[') || p.name.startsWith(f.name + '.');

function sentence(p: Detail): string {
  const text = [p.message, p.hint].filter(Boolean).join('; ');
  return text.charAt(0).toUpperCase() + text.slice(1) + '.';
}

interface InputProps { field: FormField; value: string; problem: string; onChange(text: string): void }

function Input(p: InputProps) {
  const f = p.field, id = 'param-' + f.name;
  const label = <><code>{f.name}</code> <span class="muted">{f.secret ? 'secret' : f.type}{f.deprecated ? ', deprecated' : ''}</span></>;
  const help = <>{f.description}{f.help && <details><summary>More</summary><p>{f.help}</p></details>}{notes(f).map((n) => <span class="note" key={n}>{n}</span>)}</>;
  return <Field id={id} label={label} required={f.required} problem={p.problem} help={help}>
    <Control {...p} id={id} />
  </Field>;
}

/** A pattern for the browser. Repeated groups can take forever there, so only the service checks those. */
const simple = (pattern?: string) => (pattern && !/\)[*+?{]/.test(pattern) ? `.*(?:${pattern}).*` : undefined);

/** What else to know about a field. */
function notes(f: FormField): string[] {
  const list: string[] = [];
  if (f.deprecated && f.alternative) list.push(`Use ${f.alternative} instead.`);
  if (f.type === 'array') list.push('One item a line, or a list in JSON.');
  if (f.type === 'object') list.push('An object in JSON.');
  if (f.path) list.push('A path on the machine of the service.');
  if (f.minimum !== undefined || f.maximum !== undefined) list.push(f.minimum === undefined ? `At most ${f.maximum}.` : f.maximum === undefined ? `At least ${f.minimum}.` : `From ${f.minimum} to ${f.maximum}.`);
  if (f.pattern) list.push(`Must match ${f.pattern}`);
  return list;
}

function Control({ field: f, value, problem, onChange, id }: InputProps & { id: string }) {
  const shared = {
    id, value, required: f.required, 'aria-invalid': !!problem || undefined, 'aria-describedby': [`${id}-help`, problem && `${id}-problem`].filter(Boolean).join(' '),
    onInput: (e: any) => onChange(e.currentTarget.value),
  };
  const standard = f.secret ? '' : textOf(f, f.default), placeholder = standard && `Default: ${standard.length > 80 ? standard.slice(0, 80) + '…' : standard}`;
  const choices = f.enum?.map((v) => textOf(f, v)) ?? (f.type === 'boolean' ? ['true', 'false'] : undefined);
  if (choices && !f.secret && f.type !== 'array') {
    return <select {...shared}><option value="">{placeholder || (f.required ? 'Choose …' : 'Not given')}</option>{choices.map((c) => <option value={c} key={c}>{c}</option>)}</select>;
  }
  if (f.secret) return <input {...shared} type="password" autoComplete="off" spellcheck={false} />;
  const file = <label class="button quiet file">File …<input type="file" class="sr-only" aria-label={`Read ${f.name} from a file`}
    onChange={async (e: any) => { const chosen = e.currentTarget.files?.[0]; if (chosen) onChange(await chosen.text()); }} /></label>;
  if (f.type === 'array' || f.type === 'object' || f.type === 'any' || value.includes('\n')) {
    return <div class="with-file"><textarea {...shared} rows={Math.min(12, Math.max(f.type === 'any' ? 1 : 3, value.split('\n').length))} placeholder={placeholder} spellcheck={false} />{file}</div>;
  }
  if (f.type === 'number' || f.type === 'integer') return <input {...shared} type="number" step={f.type === 'integer' ? 1 : 'any'} min={f.minimum} max={f.maximum} placeholder={placeholder} />;
  const examples = (f.examples ?? []).map((v) => textOf(f, v));
  return <div class="with-file">
    <input {...shared} type="text" minLength={f.min_length} maxLength={f.max_length} pattern={simple(f.pattern)} title={f.pattern && `Must match ${f.pattern}`}
      list={examples.length ? id + '-examples' : undefined} placeholder={placeholder || (examples.length ? `For example ${examples[0]}` : '')} spellcheck={false} />
    {examples.length > 0 && <datalist id={id + '-examples'}>{examples.map((v) => <option value={v} key={v} />)}</datalist>}
    {!f.path && f.max_length === undefined && file}
  </div>;
}
