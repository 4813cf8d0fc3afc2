// Markdown as elements: what people write in descriptions and reports. It makes no HTML of its own, so a text
// can never become code; images and HTML stay text, and links lead to web pages only.
import './markdown.css';

type Block = { kind: 'code' | 'heading' | 'list' | 'quote' | 'rule' | 'table' | 'text'; lines: string[]; level?: number; ordered?: boolean };

const fence = /^ {0,3}(```+|~~~+)/, heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/, item = /^(\s*)([-*+]|\d{1,9}[.)])\s+/, rule = /^ {0,3}([-*_])(\s*\1){2,}\s*$/, quote = /^ {0,3}> ?/;

/** The blocks of a text. */
export function blocksOf(text: string): Block[] {
  const lines = text.replace(/\r\n?/g, '\n').split('\n'), list: Block[] = [];
  for (let i = 0; i < lines.length;) {
    const line = lines[i], open = fence.exec(line);
    const take = (wanted: (l: string) => boolean) => { const from = i; for (i++; i < lines.length && wanted(lines[i]); i++); return lines.slice(from, i); };
    if (line.trim() === '') i++;
    else if (open) {
      const body = take((l) => !l.trim().startsWith(open[1])).slice(1);
      i++; // the closing fence
      list.push({ kind: 'code', lines: body });
    } else if (heading.test(line)) { const m = heading.exec(line)!; i++; list.push({ kind: 'heading', level: m[1].length, lines: [m[2]] }); }
    else if (rule.test(line)) { i++; list.push({ kind: 'rule', lines: [] }); }
    else if (quote.test(line)) list.push({ kind: 'quote', lines: take((l) => quote.test(l)).map((l) => l.replace(quote, '')) });
    else if (item.test(line)) list.push({ kind: 'list', ordered: /\d/.test(item.exec(line)![2]), lines: take((l) => item.test(l) || /^\s+\S/.test(l)) });
    else if (line.includes('|') && /^[\s|:-]+$/.test(lines[i + 1] ?? '') && lines[i + 1].includes('-')) list.push({ kind: 'table', lines: take((l) => l.includes('|')) });
    else list.push({ kind: 'text', lines: take((l) => l.trim() !== '' && ![fence, heading, rule, quote, item].some((r) => r.test(l))) });
  }
  return list;
}

/** The items of a list, each with the lines below it. */
function itemsOf(lines: string[]): string[] {
  const items: string[] = [], indent = item.exec(lines[0])![1].length;
  for (const line of lines) {
    const m = item.exec(line);
    if (m && m[1].length <= indent) items.push(line.slice(m[0].length));
    else items[items.length - 1] += '\n' + line.replace(/^\s{1,4}/, '');
  }
  return items;
}

const cellsOf = (line: string) => line.trim().replace(/^\||\|$/g, '').split('|').map((c) => c.trim());

const inline = /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|\[([^\]\n]+)\]\(([^)\s]+)\)|\*\*(\S(?:[\s\S]*?\S)?)\*\*|(?<![\w*])\*([^\s*](?:[^*]*[^\s*])?)\*(?![\w*])|(?<!\w)_([^\s_](?:[^_]*[^\s_])?)_(?!\w)|https?:\/\/[^\s<>()]+[^\s<>().,;:!?'"]/;

/** The text of a line with code, links and emphasis. */
export function Inline({ text }: { text: string }): any {
  const m = inline.exec(text);
  if (!m) return text;
  const [whole, , code, label, target, bold, starred, underlined] = m;
  const inside = code !== undefined ? <code>{code.trim() || code}</code>
    : label !== undefined ? (/^https?:\/\//.test(target) ? <a href={target} target="_blank" rel="noreferrer"><Inline text={label} /></a> : <><Inline text={label} /> <span class="muted">({target})</span></>)
    : bold !== undefined ? <strong><Inline text={bold} /></strong>
    : starred ?? underlined ? <em><Inline text={(starred ?? underlined)!} /></em>
    : <a href={whole} target="_blank" rel="noreferrer">{whole}</a>;
  return <>{text.slice(0, m.index)}{inside}<Inline text={text.slice(m.index + whole.length)} /></>;
}

export function Markdown({ text, depth = 0 }: { text: string; depth?: number }) {
  if (depth > 8) return <p>{text}</p>;
  const inner = (t: string) => <Markdown text={t} depth={depth + 1} />;
  return <div class={depth ? undefined : 'markdown'}>{blocksOf(text).map((b, i) => {
    switch (b.kind) {
      case 'code': return <pre key={i}>{b.lines.join('\n')}</pre>;
      case 'heading': return <p key={i} class="heading" role="heading" aria-level={Math.min(6, b.level! + 1)}><Inline text={b.lines[0]} /></p>;
      case 'rule': return <hr key={i} />;
      case 'quote': return <blockquote key={i}>{inner(b.lines.join('\n'))}</blockquote>;
      case 'table': return <div key={i} class="table-scroll"><table><thead><tr>{cellsOf(b.lines[0]).map((c, j) => <th key={j}><Inline text={c} /></th>)}</tr></thead>
        <tbody>{b.lines.slice(2).map((l, j) => <tr key={j}>{cellsOf(l).map((c, k) => <td key={k}><Inline text={c} /></td>)}</tr>)}</tbody></table></div>;
      case 'list': {
        const items = itemsOf(b.lines).map((t, j) => <li key={j}>{/\n/.test(t) ? inner(t) : <Inline text={t} />}</li>);
        return b.ordered ? <ol key={i}>{items}</ol> : <ul key={i}>{items}</ul>;
      }
    }
    return <p key={i}><Inline text={b.lines.join('\n')} /></p>;
  })}</div>;
}
