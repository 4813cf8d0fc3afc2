// A question of a run, with its form and the buttons that answer it.
import './question.css';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { ApiError, mayOperate, send, toError } from './api';
import { belongs, Fields, read, useTexts } from './fields';
import { Button, Field, Problem, Time, toast } from './parts';
import type { FormField } from './tools/types';
import type { Question } from './types';

export function QuestionCard({ run, question: q, title, answered }: { run: string; question: Question; title?: any; answered(): void }) {
  const problem = useSignal<ApiError | undefined>(undefined), busy = useSignal('');
  const form = useRef<HTMLFormElement>(null), sure = useSignal<'' | 'approve' | 'reject'>('');
  const fields = useMemo(() => fieldsOf(q.form), [q.form]), texts = useTexts(`answer:${run} ${q.step}`, fields);
  const id = `q-${run}-${q.step}`.replace(/[^\w-]/g, '_');
  useLayoutEffect(() => { if (sure.value) form.current!.querySelector<HTMLElement>('.sure button')!.focus(); }, [sure.value]);
  const refuse = (e: ApiError) => { problem.value = e; busy.value = sure.value = ''; };
  /** Asks once more: an answer is final. */
  const choose = (verb: 'approve' | 'reject') => {
    if (verb === 'approve' && !form.current!.reportValidity()) return;
    const { problems } = read(fields, texts.value);
    if (verb === 'approve' && problems.length) return refuse(new ApiError(422, 'invalid-values', 'Some values cannot be read.', '', problems));
    problem.value = undefined;
    sure.value = verb;
  };
  const answer = async () => {
    const verb = sure.value;
    busy.value = verb;
    try {
      const comment = (form.current!.elements.namedItem('comment') as HTMLInputElement).value;
      await send('POST', `/runs/${encodeURIComponent(run)}/${verb}`, { step: q.step, comment, ...(verb === 'approve' && q.form ? { values: read(fields, texts.value).values } : {}) });
      sessionStorage.removeItem(`answer:${run} ${q.step}`);
      toast(verb === 'approve' ? 'Approved' : 'Rejected');
      answered();
    } catch (e) {
      refuse(toError(e));
    }
  };
  const problems = problem.value?.problems ?? [], others = problems.filter((p) => !fields.some((f) => belongs(p, f)));
  return <section class="question s-waiting" aria-labelledby={id}>
    {title}
    <p class="prompt" id={id}>{q.prompt}</p>
    <p class="muted small">Step <code>{q.step}</code> asked <Time at={q.since} />{q.until && <>; it waits until <Time at={q.until} absolute /></>}</p>
    {problem.value && (others.length > 0 || problems.length === 0) && <Problem error={new ApiError(problem.value.status, problem.value.code, problem.value.message, problem.value.hint, others)} />}
    {mayOperate() ? <form ref={form} onSubmit={(e) => { e.preventDefault(); choose('approve'); }}>
      <Fields fields={fields} texts={texts} problems={problems} prefix={id + '-'} />
      <Field id={`${id}-comment`} label="Comment"><input id={`${id}-comment`} name="comment" autocomplete="off" placeholder="Optional, recorded with the answer" /></Field>
      {sure.value ? <div class="actions sure" role="alertdialog" aria-label="The answer is final">
        <span>{sure.value === 'approve' ? 'Approve? The run goes on, and the answer is final.' : 'Reject? The step fails, and the answer is final.'}</span>
        <Button kind={sure.value === 'approve' ? 'primary' : 'danger'} busy={!!busy.value} onClick={answer}>{sure.value === 'approve' ? 'Yes, approve' : 'Yes, reject'}</Button>
        <Button kind="quiet" disabled={!!busy.value} onClick={() => { sure.value = ''; }}>Back</Button>
      </div> : <div class="actions">
        <Button type="submit" kind="primary">Approve</Button>
        <Button kind="danger" class="apart" onClick={() => choose('reject')}>Reject</Button>
      </div>}
    </form> : <p class="muted">You can see this question, but not answer it.</p>}
  </section>;
}

/** The fields of a form in JSON Schema. */
function fieldsOf(schema: any): FormField[] {
  return Object.entries<any>(schema?.properties ?? {}).map(([name, p]) => ({
    name, type: typeof p.type === 'string' ? p.type : 'any', title: p.title, description: p.description, required: !!schema.required?.includes(name) && p.default === undefined, default: p.default, enum: p.enum,
    examples: p.examples, pattern: p.pattern, minimum: p.minimum, maximum: p.maximum, min_length: p.minLength, max_length: p.maxLength,
  }));
}
