// A look into a file, by the end of its name. What could run code is shown in a frame in which nothing runs.
import { useSignal } from '@preact/signals';
import { useResource } from '../api';
import { bytes } from '../format';
import { Digits, parse, write } from '../json';
import { Markdown } from '../markdown';
import { Load } from '../parts';

const kinds: Record<string, string> = {
  png: 'image', jpg: 'image', jpeg: 'image', gif: 'image', webp: 'image', avif: 'image', ico: 'image', bmp: 'image',
  svg: 'page', html: 'page', htm: 'page', md: 'Markdown', csv: 'table', tsv: 'table', json: 'JSON', pdf: 'PDF',
  txt: 'text', log: 'text', xml: 'text', yaml: 'text', yml: 'text', toml: 'text', ini: 'text', sh: 'text', go: 'text', py: 'text', js: 'text', ts: 'text', css: 'text', sql: 'text', diff: 'text', patch: 'text', jsonl: 'text', ndjson: 'text',
};

/** What a file is, as far as its name tells; '' for anything else. */
export const kindOf = (name: string) => kinds[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? '';

const most = 1 << 20; // bytes of a text that a page shows

/** A look into the file at href. */
export function Preview({ name, size, href }: { name: string; size: number; href: string }) {
  const kind = kindOf(name);
  switch (kind) {
    case 'image':
      return <div class="preview-box"><img src={href} alt={name} /></div>;
    case 'page':
      return <div class="preview-box"><iframe sandbox="" src={href} title={name} /></div>;
    case 'PDF':
      return <div class="preview-box"><p class="muted body">A PDF is shown by the browser: choose Open.</p></div>;
  }
  return <Text kind={kind} name={name} size={size} href={href} />;
}

function Text({ kind, name, size, href }: { kind: string; name: string; size: number; href: string }) {
  const text = useResource(async (abort) => {
    const r = await fetch(href, { signal: abort, headers: { Range: `bytes=0-${most - 1}` } });
    if (!r.ok && r.status !== 416) throw new Error(`The file cannot be read: ${r.status}`); // 416: it is empty
    return r.status === 416 ? '' : r.text();
  }, href);
  return <div class="preview-box" role="region" tabIndex={0} aria-label={`Content of ${name}`}><Load from={text}>{(t) => <>
    {kind === 'table' ? <Table text={t} tab={/\.tsv$/i.test(name)} /> : kind === 'JSON' && size <= most ? <Tree text={t} /> : kind === 'Markdown' ? <div class="body"><Markdown text={t} /></div> : t === '' ? <p class="muted body">The file is empty.</p> : t.includes('\0') ? <p class="muted body">The file is not text.</p> : <pre>{t}</pre>}
    {size > most && <p class="muted body">The first {bytes(most)} of {bytes(size)}.</p>}
  </>}</Load></div>;
}

/** The rows of a text with commas or tabs between the cells (RFC 4180). */
export function rowsOf(text: string, separator: string, limit: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [], cell = '', quoted = false;
  for (let i = 0; i <= text.length && rows.length < limit; i++) {
    const c = text[i];
    if (quoted && c !== undefined) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') { cell += c; i++; }
      else quoted = false;
    } else if (c === '"' && cell === '') quoted = true;
    else if (c === separator) { row.push(cell); cell = ''; }
    else if (c === '\n' || c === undefined) {
      if (cell.endsWith('\r')) cell = cell.slice(0, -1);
      if (c === '\n' || row.length || cell) rows.push([...row, cell]);
      row = [];
      cell = '';
    } else cell += c;
  }
  return rows;
}

const mostRows = 500;

function Table({ text, tab }: { text: string; tab: boolean }) {
  const [head = [], ...rows] = rowsOf(text, tab ? '\t' : ',', mostRows + 2);
  return <><table><thead><tr>{head.map((h, i) => <th key={i}>{h}</th>)}</tr></thead>
    <tbody>{rows.slice(0, mostRows).map((r, i) => <tr key={i}>{r.map((c, j) => <td key={j}>{c}</td>)}</tr>)}</tbody></table>
    {rows.length > mostRows && <p class="muted body">The first {mostRows} rows.</p>}</>;
}

function Tree({ text }: { text: string }) {
  try {
    return <div class="tree"><Value of={parse(text)} open /></div>;
  } catch {
    return <pre>{text}</pre>;
  }
}

const mostEntries = 200;

/** A value of JSON: what it holds is made only when it is opened. */
function Value({ name, of, open }: { name?: string; of: any; open?: boolean }) {
  const key = name !== undefined && <b>{name}: </b>;
  if (of === null || typeof of !== 'object' || of instanceof Digits) return <div>{key}<code>{write(of)}</code></div>;
  const list = Object.entries(of), what = Array.isArray(of) ? `[${list.length}]` : `{${list.length}}`;
  if (list.length === 0) return <div>{key}<code>{Array.isArray(of) ? '[]' : '{}'}</code></div>;
  return <Fold head={<>{key}<span class="muted">{what}</span></>} open={open}>{() => <>
    {list.slice(0, mostEntries).map(([k, v]) => <Value key={k} name={k} of={v} />)}
    {list.length > mostEntries && <div class="muted">and {list.length - mostEntries} more</div>}</>}</Fold>;
}

function Fold({ head, open, children }: { head: any; open?: boolean; children: () => any }) {
  const shown = useSignal(!!open);
  return <details open={shown.value} onToggle={(e: any) => { if (e.target === e.currentTarget) shown.value = e.currentTarget.open; }}><summary>{head}</summary>{shown.value && children()}</details>;
}
