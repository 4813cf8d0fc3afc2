// The fields of a form, of a run and of an answer alike, and how their texts become values.
import './fields.css';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { effect, signal, useSignal, type Signal } from '@preact/signals';
import type { Detail } from './api';
import { parse, shown } from './json';
import { Button, Field } from './parts';
import type { FormField } from './tools/types';

/** The texts in the fields by name. A missing or empty one is not given; null is an empty text that is given. */
export type Texts = Record<string, string | null>;

/** Returns a value as the text of its field. */
export function textOf(f: FormField, value: unknown): string {
  if (value === undefined || value === null) return '';
  return shown(value, f.type === 'object' ? 2 : 0);
}

/** Returns the text of a field with a value that is given. */
export const givenText = (f: FormField, value: unknown): string | null => (value === '' && f.type === 'string' ? null : textOf(f, value));

/** Returns the value of a field. Numbers stay text, so that they keep all their digits. */
function valueOf(f: FormField, text: string): unknown {
  switch (f.type) {
    case 'boolean':
      return text === 'true';
    case 'object': case 'array':
      return parse(text);
    case 'any':
      try {
        return parse(text);
      } catch {
        return text;
      }
  }
  return text;
}

/** Returns the values of all fields that are given, and the problems with their texts. */
export function read(fields: FormField[], texts: Texts): { values: Record<string, unknown>; problems: Detail[] } {
  const values: Record<string, unknown> = {}, problems: Detail[] = [];
  for (const f of fields) {
    const text = texts[f.name];
    if (text === null) values[f.name] = '';
    if (!text) continue;
    const choice = f.enum?.findIndex((v) => textOf(f, v) === text) ?? -1;
    try {
      values[f.name] = choice >= 0 ? f.enum![choice] : valueOf(f, text);
    } catch (e: any) {
      problems.push({ name: f.name, code: 'json', message: `This is not JSON: ${e.message}` });
    }
  }
  return { values, problems };
}

function keptTexts(key: string): Texts {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '{}');
  } catch {
    return {}; // of another version of this page
  }
}

/** The texts of a form, kept while the tab is open: also when its page is left and shown again. Secrets are not kept. */
export function useTexts(key: string, fields: FormField[]): Signal<Texts> {
  const texts = useMemo(() => signal(keptTexts(key)), [key]);
  useLayoutEffect(() => effect(() => { // at once: one that waits for the next frame loses what is written just before the page is left
    const kept = Object.entries(texts.value).filter(([name, v]) => v !== '' && fields.some((f) => f.name === name && !f.secret));
    if (kept.length) sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(kept)));
    else sessionStorage.removeItem(key);
  }), [texts, fields]);
  return texts;
}

export const belongs = (p: Detail, f: FormField) => p.name === f.name || p.name.startsWith(f.name + '[') || p.name.startsWith(f.name + '.');

function sentence(p: Detail): string {
  const text = [p.message, p.hint].filter(Boolean).join('; ');
  return text.charAt(0).toUpperCase() + text.slice(1) + '.';
}

export function Fields({ fields, texts, problems, prefix }: { fields: FormField[]; texts: Signal<Texts>; problems: Detail[]; prefix: string }) {
  return <>{fields.map((f) => {
    const id = prefix + f.name, problem = problems.filter((p) => belongs(p, f)).map(sentence).join(' ');
    const label = <>{f.title ? <b>{f.title}</b> : <code>{f.name}</code>} <span class="muted">{f.secret ? 'secret' : f.type}{f.deprecated ? ', deprecated' : ''}</span></>;
    const help = <>{f.description}{f.help && <details><summary>More</summary><p>{f.help}</p></details>}{notes(f).map((n) => <span class="note" key={n}>{n}</span>)}</>;
    return <Field key={f.name} id={id} label={label} required={f.required} problem={problem} help={help}>
      <Control field={f} id={id} value={texts.value[f.name]} problem={problem} latest={() => texts.peek()[f.name] ?? ''} onChange={(text) => { texts.value = { ...texts.value, [f.name]: text }; }} />
    </Field>;
  })}</>;
}

/** A pattern for the browser. Repeated groups can take forever there, so only the service checks those. */
const simple = (pattern?: string) => (pattern && !/\)[*+?{]/.test(pattern) ? `.*(?:${pattern}).*` : undefined);

/** What else to know about a field. */
function notes(f: FormField): string[] {
  const list: string[] = [];
  if (f.deprecated && f.alternative) list.push(`Use ${f.alternative} instead.`);
  if (f.type === 'object') list.push('An object in JSON.');
  if (f.path) list.push('A path on the machine of the service.');
  if (f.minimum !== undefined || f.maximum !== undefined) list.push(f.minimum === undefined ? `At most ${f.maximum}.` : f.maximum === undefined ? `At least ${f.minimum}.` : `From ${f.minimum} to ${f.maximum}.`);
  if (f.pattern) list.push(`Must match ${f.pattern}`);
  return list;
}

interface ControlProps { field: FormField; id: string; value: string | null | undefined; problem: string; latest(): string; onChange(text: string | null): void }

function Control({ field: f, id, value, problem, latest, onChange }: ControlProps) {
  const shared = {
    id, name: '.' + f.name, value: value ?? '', required: f.required && value !== null, 'aria-invalid': !!problem || undefined,
    'aria-describedby': [`${id}-help`, problem && `${id}-problem`].filter(Boolean).join(' '), onInput: (e: any) => onChange(e.currentTarget.value),
  };
  const standard = f.secret ? '' : textOf(f, f.default), placeholder = value === null ? 'An empty text' : standard && `Default: ${standard.length > 80 ? standard.slice(0, 80) + '…' : standard}`;
  const choices = f.enum?.map((v) => textOf(f, v)) ?? (f.type === 'boolean' ? ['true', 'false'] : undefined);
  if (choices && !f.secret && f.type !== 'array') {
    return <select {...shared}><option value="">{placeholder || (f.required ? 'Choose …' : 'Not given')}</option>{choices.map((c) => <option value={c} key={c} selected={c === value}>{c}</option>)}</select>;
  }
  if (f.secret) return <input {...shared} type="password" autoComplete="off" spellcheck={false} />;
  if (f.type === 'array') return <List field={f} shared={shared} placeholder={placeholder} latest={latest} onChange={onChange} />;
  if (f.type === 'number' || f.type === 'integer') return <input {...shared} type="number" step={f.type === 'integer' ? 1 : 'any'} min={f.minimum} max={f.maximum} placeholder={placeholder} />;
  const examples = (f.examples ?? []).map((v) => textOf(f, v));
  const oneLine = f.path || f.pattern || examples.length > 0;
  return <div class="with-file">
    {oneLine && !shared.value.includes('\n') ? <input {...shared} type="text" minLength={f.min_length} maxLength={f.max_length} pattern={simple(f.pattern)} title={f.pattern && `Must match ${f.pattern}`}
      list={examples.length ? id + '-examples' : undefined} placeholder={placeholder || (examples.length ? `For example ${examples[0]}` : '')} spellcheck={false} />
      : <textarea {...shared} rows={rowsFor(shared.value || (placeholder && standard), f.type === 'object' ? 3 : 1)} minLength={f.min_length} maxLength={f.max_length} placeholder={placeholder} spellcheck={f.type === 'string'} />}
    {examples.length > 0 && <datalist id={id + '-examples'}>{examples.map((v) => <option value={v} key={v} />)}</datalist>}
    {f.type === 'string' && standard && !value && <label class="empty-text"><input type="checkbox" checked={value === null} onChange={(e: any) => onChange(e.currentTarget.checked ? null : '')} /> Empty</label>}
    {!f.path && <FileButton name={f.name} onChange={onChange} />}
  </div>;
}

const rowsFor = (text: string, least: number) => Math.min(14, Math.max(least, text.split('\n').length));

function FileButton({ name, onChange }: { name: string; onChange(text: string): void }) {
  return <label class="button quiet file">File …<input type="file" class="sr-only" aria-label={`Read ${name} from a file`}
    onChange={async (e: any) => { const chosen = e.currentTarget.files?.[0]; if (chosen) onChange(await chosen.text()); }} /></label>;
}

/** The items of a list as texts; undefined if it has others. */
function itemsOf(text: string): string[] | undefined {
  if (text.trim() === '') return [];
  try {
    const list = JSON.parse(text);
    return Array.isArray(list) && list.every((v) => typeof v === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}

/** A list: an input for each item. One with other items than texts is written in JSON. */
function List({ field: f, shared, placeholder, latest, onChange }: { field: FormField; shared: any; placeholder: string; latest(): string; onChange(text: string): void }) {
  const items = itemsOf(shared.value), json = useSignal(items === undefined), box = useRef<HTMLDivElement>(null);
  if (json.value || items === undefined) {
    return <div class="with-file"><textarea {...shared} rows={rowsFor(shared.value, 3)} placeholder={placeholder || '["JSON"]'} spellcheck={false} />
      <span class="column"><FileButton name={f.name} onChange={onChange} />{items && <Button kind="quiet" onClick={() => { json.value = false; }}>As items</Button>}</span></div>;
  }
  const set = (change: (items: string[]) => string[], focus?: number) => { // of the latest items: what is drawn can be older
    const list = change(itemsOf(latest()) ?? []);
    onChange(list.length ? JSON.stringify(list) : '');
    if (focus !== undefined) setTimeout(() => box.current?.querySelectorAll('input')[focus]?.focus());
  };
  const shown = items.length ? items : [''];
  const paste = (e: ClipboardEvent, i: number) => {
    const lines = (e.clipboardData?.getData('text') ?? '').split(/\r?\n/).filter(Boolean);
    if (lines.length < 2) return;
    e.preventDefault();
    set((now) => [...now.slice(0, i), ...lines, ...now.slice(i + 1)], i + lines.length - 1);
  };
  return <div class="list" ref={box} role="group" aria-label={f.title ?? f.name}>
    {shown.map((v, i) => <div class="row" key={i}>
      <input {...shared} id={i === 0 ? shared.id : undefined} aria-label={`Item ${i + 1} of ${f.title ?? f.name}`} type="text" value={v} placeholder={items.length ? '' : placeholder} spellcheck={false}
        onInput={(e: any) => { const text = e.currentTarget.value; set((now) => (now.length ? now.map((o, j) => (j === i ? text : o)) : [text])); }} onPaste={(e: ClipboardEvent) => paste(e, i)}
        onKeyDown={(e: KeyboardEvent) => { if (e.key === 'Enter' && items.length) { e.preventDefault(); set((now) => [...now.slice(0, i + 1), '', ...now.slice(i + 1)], i + 1); } }} />
      {items.length > 0 && <Button kind="quiet" aria-label={`Remove item ${i + 1}`} onClick={() => set((now) => now.filter((_, j) => j !== i), Math.max(0, i - 1))}>×</Button>}
    </div>)}
    <div class="row"><Button kind="quiet" disabled={items.length === 0} onClick={() => set((now) => [...now, ''], items.length)}>Add an item</Button><Button kind="quiet" onClick={() => { json.value = true; }}>As JSON</Button></div>
  </div>;
}
