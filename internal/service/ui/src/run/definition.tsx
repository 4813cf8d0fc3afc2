// The definitions as the run used them.
import { get, useResource } from '../api';
import { Copy, Empty, Load, Section } from '../parts';
import type { RunView } from './page';

interface File { name: string; scope: string; text: string }

export function Definition({ id }: RunView) {
  const files = useResource((abort) => get<{ files: File[] }>(`/runs/${encodeURIComponent(id)}/definition`, {}, abort), id);
  return <Load from={files}>{(d) => d.files.length === 0 ? <Empty>No definition is recorded: the tool is part of flowrun, or the run could not start.</Empty>
    : d.files.map((f, i) => <Section key={i} title={<>{f.name} {f.scope && <span class="tag">{f.scope}</span>}</>} aside={<Copy text={f.text} kind="quiet" />}><Code text={f.text} /></Section>)}</Load>;
}

/** A text with line numbers. Keys and comments of YAML are coloured. */
export function Code({ text, label = 'Text of the definition' }: { text: string; label?: string }) {
  const lines = text.replace(/\n$/, '').split('\n');
  return <div class="code-lines" tabIndex={0} role="region" aria-label={label}><table role="presentation"><tbody>
    {lines.map((line, i) => <tr key={i}><td class="line-number" aria-hidden="true" data-n={i + 1} /><td class="line-text">{coloured(line)}</td></tr>)}
  </tbody></table></div>;
}

function coloured(line: string) {
  const m = /^(\s*(?:- )*)([\w.-]+)(:)(\s.*|)$/.exec(line);
  if (/^\s*(#|\/\/)/.test(line)) return <span class="comment">{line}</span>;
  if (m) return <>{m[1]}<span class="key">{m[2]}</span>{m[3]}{m[4]}</>;
  return line;
}
