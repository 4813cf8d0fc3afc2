// What is wrong with a definition.
import { count } from './format';
import { Button, Section } from './parts';
import './editor.css';

/** One item of flowrun/diagnostics.v1. */
export interface Diagnostic {
  code: string; severity: 'error' | 'warning' | 'note'; file: string; line: number; col: number; length: number; message: string; hint: string;
  fix?: { from: number; to: number; text: string }[];
}

/** A list of problems; undefined means that it is not known yet. With goTo, each leads to its place. */
export function Diagnostics({ list, goTo, fix }: { list?: Diagnostic[]; goTo?(d: Diagnostic): void; fix?(d: Diagnostic): void }) {
  const all = [...(list ?? [])].sort((a, b) => Number(b.severity === 'error') - Number(a.severity === 'error')), errors = all.filter((d) => d.severity === 'error').length;
  const summary = !list ? 'Checking …' : all.length === 0 ? 'No problems' : [errors && count(errors, 'error'), all.length > errors && count(all.length - errors, 'warning')].filter(Boolean).join(', ');
  return <Section title="Problems" aside={<span role="status">{summary}</span>}>
    <div id="diagnostics" class="diagnostics">
      {all.length === 0 && <p class="empty">{list ? 'The definition is valid.' : 'Checking …'}</p>}
      <ul>{all.map((d, i) => {
        const text = <><span class="where"><b>{d.severity}</b> {d.line}:{d.col}</span><span>{d.message}</span>{d.hint && <span class="muted">{d.hint}</span>}</>;
        return <li key={i}>
          {goTo ? <button type="button" class={`diagnostic ${d.severity}`} onClick={() => goTo(d)}>{text}</button> : <div class={`diagnostic ${d.severity}`}>{text}</div>}
          {fix && d.fix && <Button kind="quiet" onClick={() => fix(d)} aria-label={`Fix: ${d.hint || d.message}`}>Fix</Button>}
        </li>;
      })}</ul>
    </div>
  </Section>;
}
