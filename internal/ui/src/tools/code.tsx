/** A text with the numbers of its lines. */
export function CodeLines({ text, label, marks = {} }: { text: string; label: string; marks?: Record<number, string> }) {
  const lines = text.replace(/\n$/, '').split('\n');
  return <div class="code" role="region" aria-label={label} tabIndex={0}>
    <pre class="gutter" aria-hidden="true">{lines.map((_, i) => <span key={i} class={marks[i + 1]}>{i + 1}{'\n'}</span>)}</pre>
    <pre>{text}</pre>
  </div>;
}
