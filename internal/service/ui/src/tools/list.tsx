import { get, mayOperate, useResource } from '../api';
import { useKeys } from '../keys';
import { Inline } from '../markdown';
import { Empty, LinkButton, Load, Page, Time } from '../parts';
import { A, pathOf, routed, setQuery } from '../router';
import { clock, count } from '../format';
import { word } from '../status';
import { kindWords, riskWords, scopeWords, type ListedTool } from './types';
import './tools.css';

/** What a tool may do at most. */
export function Risk({ risk }: { risk: string }) {
  return <span class={`risk risk-${risk}`}><span class="risk-bars" aria-hidden="true"><i /><i /><i /></span>{riskWords[risk] ?? risk}</span>;
}

/** Moves the focus among the links of a list. */
export function useRows() {
  const move = (by: number) => {
    const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')], i = rows.indexOf(document.activeElement as HTMLElement);
    rows[i < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, i + by))]?.focus();
  };
  useKeys([{ keys: 'j', does: 'Next row', run: () => move(1) }, { keys: 'k', does: 'Previous row', run: () => move(-1) }]);
}

const filters: { name: keyof ListedTool & string; label: string; words?: Record<string, string> }[] = [
  { name: 'tags', label: 'Tag' },
  { name: 'scope', label: 'Scope', words: scopeWords },
  { name: 'kind', label: 'Source', words: kindWords },
  { name: 'risk', label: 'Risk', words: riskWords },
];

function matches(t: ListedTool, query: URLSearchParams): boolean {
  const text = [t.name, t.description, t.category, ...t.tags].join('\n').toLowerCase();
  return (query.get('q') ?? '').toLowerCase().split(/\s+/).every((word) => text.includes(word))
    && filters.every(({ name }) => !query.get(name) || [t[name]].flat().includes(query.get(name)!));
}

export function ToolList() {
  const tools = useResource((abort) => get<{ tools: ListedTool[] }>('/tools', { recent: 20 }, abort));
  const next = useResource(readNext).data.value;
  const query = routed.value.query;
  useRows();
  return <Page title="Tools">
    <Load from={tools}>{({ tools: all }) => {
      const shown = all.filter((t) => matches(t, query));
      return <>
        <div class="tool-filters" role="search">
          <input type="search" data-search aria-label="Search tools" placeholder="Search tools" value={query.get('q') ?? ''} onInput={(e: any) => setQuery({ q: e.currentTarget.value })} />
          {filters.map(({ name, label, words }) => <select key={name} aria-label={label} value={query.get(name) ?? ''} onChange={(e: any) => setQuery({ [name]: e.currentTarget.value })}>
            <option value="">{label}: any</option>
            {[...new Set(all.flatMap((t) => t[name] as string | string[]).filter(Boolean))].sort().map((v) => <option value={v} key={v}>{words?.[v] ?? v}</option>)}
          </select>)}
          <span class="muted" role="status">{shown.length === all.length ? count(all.length, 'tool') : `${shown.length} of ${count(all.length, 'tool')}`}</span>
        </div>
        <section class="section">
          {shown.length === 0 ? <Empty>{all.length === 0 ? 'The service offers no tools. Put definitions into .flowrun/tools.' : 'No tool matches.'}</Empty> : <ToolTable tools={shown} next={next} />}
        </section>
      </>;
    }}</Load>
  </Page>;
}

/** The next scheduled time of each tool; none where the service fires no schedules. */
async function readNext(abort: AbortSignal): Promise<Map<string, string>> {
  const next = new Map<string, string>();
  const list = await get<{ schedules: { tool: string; next?: string; paused: boolean }[] }>('/schedules', {}, abort).catch((e) => { if (e.status === 404) return { schedules: [] }; throw e; });
  for (const s of list.schedules) if (s.next && !s.paused && !(next.get(s.tool)! < s.next)) next.set(s.tool, s.next);
  return next;
}

/** The last runs of a tool as marks, the newest at the right, each a link to its run. */
function Recent({ runs = [] }: { runs?: ListedTool['recent'] }) {
  return <span class="recent">{[...runs].reverse().map((r) => <A key={r.id} class={`s-${r.status}`} href={pathOf('runs', r.id)} title={`${clock(r.started)}: ${word(r.status)}`}><span class="sr-only">{word(r.status)}</span></A>)}</span>;
}

function ToolTable({ tools, next }: { tools: ListedTool[]; next?: Map<string, string> }) {
  return <div class="table-scroll"><table class="tools">
    <thead><tr><th>Name</th><th class="narrow-hide">Last runs</th><th class="narrow-hide">Next</th><th>Risk</th><th class="narrow-hide">Source</th><th class="narrow-hide">Tags</th>{mayOperate() && <th><span class="sr-only">Actions</span></th>}</tr></thead>
    <tbody>{tools.map((t) => <tr key={t.name}>
      <td class="tool-name"><A href={pathOf('tools', t.name)} data-row>{t.name}</A>
        {t.broken && <span class="tag bad">invalid</span>}{t.deprecated && <span class="tag">deprecated</span>}
        <div class="muted"><Inline text={t.description.split('\n')[0]} /></div></td>
      <td class="narrow-hide"><Recent runs={t.recent} /></td>
      <td class="narrow-hide muted">{next?.has(t.name) && <Time at={next.get(t.name)!} />}</td>
      <td><Risk risk={t.risk} /></td>
      <td class="narrow-hide">{kindWords[t.kind] ?? t.kind}{scopeWords[t.scope ?? ''] ? <span class="muted">, {scopeWords[t.scope!].toLowerCase()}</span> : null}</td>
      <td class="narrow-hide"><Tags tags={t.tags} /></td>
      {mayOperate() && <td class="end">{!t.broken && <LinkButton href={pathOf('tools', t.name, 'run')} aria-label={`Run ${t.name}`}>Run</LinkButton>}</td>}
    </tr>)}</tbody>
  </table></div>;
}

/** Tags, each a link to the tools that have it. */
export function Tags({ tags }: { tags: string[] }) {
  return <span class="tags">{tags.map((t) => <A class="tag" key={t} href={'/tools?tags=' + encodeURIComponent(t)}>{t}</A>)}</span>;
}
