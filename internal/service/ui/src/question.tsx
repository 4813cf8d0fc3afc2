// A question of a run, with its form and the buttons that answer it.
import './question.css';
import { useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { mayOperate, send, toError, type ApiError } from './api';
import { Button, Field, Problem, Time, toast } from './parts';
import type { Question } from './types';

export function QuestionCard({ run, question: q, title, answered }: { run: string; question: Question; title?: any; answered(): void }) {
  const problem = useSignal<ApiError | undefined>(undefined), busy = useSignal('');
  const form = useRef<HTMLFormElement>(null);
  const id = `q-${run}-${q.step}`.replace(/[^\w-]/g, '_');
  const answer = async (verb: 'approve' | 'reject') => {
    if (verb === 'approve' && !form.current!.reportValidity()) return;
    busy.value = verb;
    try {
      const comment = (form.current!.elements.namedItem('comment') as HTMLInputElement).value;
      await send('POST', `/runs/${encodeURIComponent(run)}/${verb}`, { step: q.step, comment, ...(verb === 'approve' && q.form ? { values: values(q.form, form.current!) } : {}) });
      toast(verb === 'approve' ? 'Approved' : 'Rejected');
      answered();
    } catch (e) {
      problem.value = toError(e);
      busy.value = '';
    }
  };
  const fields = Object.entries<any>(q.form?.properties ?? {});
  const bad = (name: string) => problem.value?.problems.find((p) => p.name === name)?.message;
  return <section class="question s-waiting" aria-labelledby={id}>
    {title}
    <p class="prompt" id={id}>{q.prompt}</p>
    <p class="muted small">Step <code>{q.step}</code> asked <Time at={q.since} />{q.until && <>; it waits until <Time at={q.until} absolute /></>}</p>
    {problem.value && problem.value.problems.length === 0 && <Problem error={problem.value} />}
    {mayOperate() ? <form ref={form} onSubmit={(e) => { e.preventDefault(); answer('approve'); }}>
      {fields.map(([name, f]) => <Field key={name} id={`${id}-${name}`} label={f.title ?? name} help={f.description} required={q.form.required?.includes(name)} problem={bad(name)}>
        <Input id={`${id}-${name}`} name={name} field={f} required={q.form.required?.includes(name)} bad={!!bad(name)} />
      </Field>)}
      <Field id={`${id}-comment`} label="Comment"><input id={`${id}-comment`} name="comment" autocomplete="off" placeholder="Optional, recorded with the answer" /></Field>
      <div class="actions">
        <Button type="submit" kind="primary" busy={busy.value === 'approve'} disabled={!!busy.value}>Approve</Button>
        <Button kind="danger" onClick={() => answer('reject')} busy={busy.value === 'reject'} disabled={!!busy.value}>Reject</Button>
      </div>
    </form> : <p class="muted">You can see this question, but not answer it.</p>}
  </section>;
}

/** The input of one field. Its name begins with a dot, so that it cannot be that of another element. */
function Input({ id, name, field: f, required, bad }: { id: string; name: string; field: any; required?: boolean; bad: boolean }) {
  const common = { id, name: '.' + name, required, 'aria-invalid': bad || undefined, 'aria-describedby': f.description ? id + '-help' : undefined };
  const initial = f.default === undefined ? '' : typeof f.default === 'string' ? f.default : JSON.stringify(f.default);
  if (f.enum) {
    return <select {...common} defaultValue={initial}>{(!required || f.default === undefined) && <option value="" />}
      {f.enum.map((v: any) => { const t = typeof v === 'string' ? v : JSON.stringify(v); return <option key={t} value={t} selected={t === initial}>{t}</option>; })}</select>;
  }
  switch (f.type) {
    case 'boolean':
      return <select {...common}>{!required && f.default === undefined && <option value="" />}<option value="true" selected={f.default === true}>yes</option><option value="false" selected={f.default === false}>no</option></select>;
    case 'integer': case 'number':
      return <input {...common} inputMode="decimal" pattern="-?[0-9.eE+\-]+" defaultValue={initial} title="a number" />;
    case 'array': case 'object':
      return <textarea {...common} rows={3} defaultValue={initial} placeholder={f.type === 'array' ? '["JSON"]' : '{"JSON": 1}'} />;
  }
  return <input {...common} defaultValue={initial} minLength={f.minLength} maxLength={f.maxLength} pattern={f.pattern} autocomplete="off" />;
}

/** The values of the form as text; the service converts them. Empty fields are left to their defaults. */
function values(schema: any, form: HTMLFormElement): Record<string, string> {
  const all: Record<string, string> = {};
  for (const name of Object.keys(schema.properties ?? {})) {
    const v = (form.elements.namedItem('.' + name) as HTMLInputElement | null)?.value ?? '';
    if (v !== '') all[name] = v;
  }
  return all;
}
