// An editor for one definition: the text, what is wrong with it, and what a save would change.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { ApiError, get, mayEdit, send, toError, useResource } from './api';
import { Diagnostics, type Diagnostic } from './diagnostics';
import { diff, hunks } from './diff';
import { Button, Dialog, Empty, Field, LinkButton, Load, Page, Problem, Section, toast } from './parts';
import { pathOf } from './router';
import { Code } from './run/definition';
import type { GraphDoc } from './run/graph_model';
import { DryRun } from './tools/dryrun';
import { SmallGraph } from './tools/graph';
import type { Plan } from './tools/types';
import './editor.css';

interface Source { name: string; kind: string; file: string; text: string; digest: string; read_only?: string }

interface Checked { valid: boolean; diagnostics: Diagnostic[]; graph?: GraphDoc; plan?: Plan }

export function Editor({ params: { name } }: { params: Record<string, string> }) {
  const source = useResource((abort) => get<Source>(`/tools/${encodeURIComponent(name)}/source`, {}, abort), name);
  const s = source.data.value, readOnly = s?.read_only ?? (s && !mayEdit() ? 'you may not change definitions here' : '');
  return <Page wide name={`Edit ${name}`} title={<>Edit {name}</>} actions={<LinkButton href={pathOf('tools', name)}>Back to the tool</LinkButton>}>
    <Load from={source}>{(s) => readOnly
      ? <Section title={<code>{s.file || name}</code>} aside={`Read-only: ${readOnly}.`}>{s.file ? <Code text={s.text} /> : <Empty>There is no text to show.</Empty>}</Section>
      : <Form key={s.digest} source={s} reload={source.reload} />}</Load>
  </Page>;
}

function Form({ source, reload }: { source: Source; reload(): void }) {
  const draft = `draft ${source.name} ${source.digest}`; // kept while other pages are looked at
  const saved = useSignal(source), text = useSignal(sessionStorage.getItem(draft) ?? source.text), checked = useSignal<Checked | undefined>(undefined), error = useSignal<ApiError | undefined>(undefined), asks = useSignal(''), graph = useSignal<GraphDoc | undefined>(undefined), plan = useSignal<Plan | undefined>(undefined);
  const area = useRef<HTMLTextAreaElement>(null), changed = text.value !== saved.value.text;

  useLayoutEffect(() => { // checks soon after the last key
    let over = false;
    const timer = setTimeout(() => {
      send<Checked>('POST', '/validate', { tool: source.name, text: text.value }).then(
        (c) => { if (!over) { checked.value = c; graph.value = c.graph ?? graph.value; if (error.value?.code !== 'source-changed') error.value = undefined; } }, (e) => { if (!over) error.value = toError(e); });
    }, checked.peek() ? 300 : 0);
    return () => { over = true; clearTimeout(timer); };
  }, [text.value]);

  useLayoutEffect(() => {
    if (changed) sessionStorage.setItem(draft, text.value);
    else sessionStorage.removeItem(draft);
    const stay = (e: BeforeUnloadEvent) => { if (changed) e.preventDefault(); };
    addEventListener('beforeunload', stay);
    return () => removeEventListener('beforeunload', stay);
  }, [changed, text.value]);

  const goTo = (d: Diagnostic) => {
    const lines = text.value.split('\n'), from = lines.slice(0, d.line - 1).join('\n').length + (d.line > 1 ? 1 : 0) + [...(lines[d.line - 1] ?? '')].slice(0, d.col - 1).join('').length;
    area.current!.focus();
    area.current!.setSelectionRange(from, from + d.length);
  };
  const fix = (d: Diagnostic) => { // offsets count bytes
    const decoder = new TextDecoder();
    let bytes = new TextEncoder().encode(text.value);
    for (const e of [...d.fix!].sort((a, b) => b.from - a.from)) {
      bytes = new TextEncoder().encode(decoder.decode(bytes.slice(0, e.from)) + e.text + decoder.decode(bytes.slice(e.to)));
    }
    text.value = decoder.decode(bytes);
  };
  const save = async () => {
    try {
      const now = await send<Source>('PUT', `/tools/${encodeURIComponent(source.name)}/source`, { text: text.value, digest: saved.value.digest });
      saved.value = now;
      error.value = undefined;
      toast(`${now.file} is saved. New runs use it.`);
    } catch (e) {
      error.value = toError(e);
    }
    asks.value = '';
  };
  const ask = () => { if (changed && checked.value?.valid) asks.value = 'save'; };
  return <>
    {error.value && <Problem error={error.value} />}
    {error.value?.code === 'source-changed' && <p class="row editor-choice"><Button onClick={reload}>Discard my text and read the file again</Button></p>}
    <div class="editor">
      <Section title={<span class="row"><code>{saved.value.file}</code>{changed && <span class="tag">not saved</span>}</span>}
        aside={<div class="row">
          {changed && <Button kind="quiet" onClick={() => { text.value = saved.value.text; }}>Undo all</Button>}
          <Button onClick={() => { asks.value = 'dry-run'; }} disabled={!checked.value?.valid}>Dry run …</Button>
          <Button kind="primary" onClick={ask} disabled={!changed || !checked.value?.valid} title="Ctrl+S">Save …</Button>
        </div>}>
        <TextArea area={area} value={text.value} checked={checked.value} onInput={(v) => { text.value = v; }} onSave={ask} />
      </Section>
      <div>
        <Diagnostics list={checked.value?.diagnostics} goTo={goTo} fix={fix} />
        {graph.value && <SmallGraph doc={graph.value} />}
      </div>
    </div>
    {plan.value && <DryRun plan={plan.value} />}
    {asks.value === 'dry-run' && <AskParams tool={source.name} text={text.value} onClose={() => { asks.value = ''; }} onPlan={(p) => { plan.value = p; asks.value = ''; }} />}
    {asks.value === 'save' && <Dialog wide title={`Save ${saved.value.file}`} onClose={() => { asks.value = ''; }}>
      <Changes before={saved.value.text} after={text.value} />
      <div class="actions"><Button onClick={() => { asks.value = ''; }}>Go on editing</Button><Button kind="primary" onClick={save}>Save</Button></div>
    </Dialog>}
  </>;
}

/** Asks for parameters, and shows what the text would run with them. */
function AskParams({ tool, text, onClose, onPlan }: { tool: string; text: string; onClose(): void; onPlan(p: Plan): void }) {
  const given = useSignal(''), error = useSignal<ApiError | undefined>(undefined);
  const run = async (e: Event) => {
    e.preventDefault();
    const params = Object.fromEntries(given.value.split('\n').filter((l) => l.includes('=')).map((l) => [l.slice(0, l.indexOf('=')).trim(), l.slice(l.indexOf('=') + 1)]));
    try {
      onPlan((await send<Checked>('POST', '/validate', { tool, text, params })).plan!);
    } catch (e) {
      error.value = toError(e);
    }
  };
  return <Dialog title="Dry run of this text" onClose={onClose}>
    {error.value && <Problem error={error.value} />}
    <form onSubmit={run}>
      <Field id="dry-run-params" label="Parameters" help="One NAME=value a line. Nothing is started or saved.">
        <textarea id="dry-run-params" rows={4} spellcheck={false} aria-describedby="dry-run-params-help" value={given.value} onInput={(e: any) => { given.value = e.currentTarget.value; }} /></Field>
      <div class="actions"><Button onClick={onClose}>Go on editing</Button><Button kind="primary" type="submit">Dry run</Button></div>
    </form>
  </Dialog>;
}

function TextArea({ area, value, checked, onInput, onSave }: { area: { current: HTMLTextAreaElement | null }; value: string; checked?: Checked; onInput(text: string): void; onSave(): void }) {
  const gutter = useRef<HTMLPreElement>(null), worst = new Map<number, string>();
  for (const d of checked?.diagnostics ?? []) if (worst.get(d.line) !== 'error') worst.set(d.line, d.severity);
  const key = (e: KeyboardEvent) => {
    if ((e.ctrlKey || e.metaKey) && e.key === 's') {
      e.preventDefault();
      onSave();
    }
  };
  return <div class="text-area">
    <pre ref={gutter} aria-hidden="true">{value.split('\n').map((_, i) => <span key={i} class={worst.get(i + 1)}>{i + 1}{'\n'}</span>)}</pre>
    <textarea ref={area} aria-label="Definition" value={value} spellcheck={false} autocapitalize="off" wrap="off" onKeyDown={key}
      aria-invalid={checked && !checked.valid || undefined} aria-describedby="diagnostics"
      onInput={(e: any) => onInput(e.currentTarget.value)} onScroll={(e: any) => { if (gutter.current) gutter.current.scrollTop = e.currentTarget.scrollTop; }} />
  </div>;
}

function Changes({ before, after }: { before: string; after: string }) {
  const lines = hunks(diff(before, after)), names = { '+': 'added', '-': 'removed', ' ': '' };
  return <div class="diff" role="region" aria-label="Changes" tabIndex={0}>{lines.map((l, i) => l === null ? <div key={i} class="gap">…</div>
    : <div key={i} class={names[l.mark]}><span class="number" aria-hidden="true">{l.mark === '+' ? l.now : l.old}</span><span class="mark">{l.mark}<span class="sr-only">{names[l.mark]}</span></span><span>{l.text}</span></div>)}</div>;
}
