// The questions of all runs that wait for a person.
import { useLayoutEffect } from 'preact/hooks';
import { get, useResource } from './api';
import { count } from './format';
import { Button, Empty, Load, Page, Time } from './parts';
import { QuestionCard } from './question';
import { A, pathOf } from './router';
import { trigger } from './run_table';
import { countWaiting, notifies, toggleNotifies } from './waiting_count';
import { useChanges } from './stream';
import type { OpenQuestion } from './types';

interface Questions { questions: OpenQuestion[]; next?: string }

/** All open questions, newest run first. */
async function readAll(abort: AbortSignal): Promise<OpenQuestion[]> {
  const all: OpenQuestion[] = [];
  for (let before: string | undefined = ''; before !== undefined && all.length < 500;) {
    const page: Questions = await get<Questions>('/questions', { before }, abort);
    all.push(...page.questions);
    before = page.next;
  }
  return all;
}

/** The open questions as a resource that stays up to date. */
export function useQuestions() {
  const list = useResource(readAll);
  const n = list.data.value?.length;
  useLayoutEffect(() => { if (n !== undefined) countWaiting(n); }, [n]);
  return list;
}

/** Whether the open questions may be others after an event. */
export const changesQuestions = (open: OpenQuestion[] | undefined, e: any) => e.kind === 'step.waiting' || e.kind === 'run.finished' || e.kind === 'run.resumed'
  || e.kind === 'step.finished' && !!open?.some((q) => q.run === e.run && q.step === e.node);

export function Waiting() {
  const list = useQuestions();
  useChanges(list.reload, (e) => changesQuestions(list.data.peek(), e));
  return <Page title="Waiting" actions={<>{list.data.value && <span class="muted">{count(list.data.value.length, 'question')}</span>}
    {'Notification' in window && <Button kind="quiet" aria-pressed={notifies.value} onClick={toggleNotifies}>{notifies.value ? 'Do not notify me' : 'Notify me of new questions'}</Button>}</>}>
    <Load from={list}>{(questions) => questions.length === 0 ? <div class="section"><Empty>No run waits for an answer.</Empty></div>
      : questions.map((q) => <QuestionCard key={q.run + q.step} run={q.run} question={q} answered={list.reload}
        title={<p class="asker"><A href={pathOf('runs', q.run)}><strong>{q.tool}</strong> <code>{q.run}</code></A> <span class="muted">{trigger(q.origin)}, started <Time at={q.started} /></span></p>} />)}</Load>
  </Page>;
}
