import { get, mayEdit, mayOperate, useResource } from '../api';
import { shown, write } from '../json';
import { Copy, Empty, LinkButton, Load, Page, Problem, Section, Tabs, Time } from '../parts';
import { A, pathOf, routed, setQuery } from '../router';
import { duration } from '../format';
import { Glyph } from '../status';
import { Code } from '../run/definition';
import { Diagnostics, type Diagnostic } from '../diagnostics';
import { Markdown } from '../markdown';
import { RunForm } from './form';
import { ToolGraph } from './graph';
import { History, Numbers, Sparkline } from './history';
import { Risk, Tags } from './list';
import { kindWords, scopeWords, type Stats, type Tool } from './types';
import './tools.css';

const tabs = [['', 'Overview'], ['run', 'Run'], ['graph', 'Graph'], ['history', 'History'], ['schema', 'Schema'], ['source', 'Source']] as const;

export function ToolPage({ params: { name, tab } }: { params: Record<string, string> }) {
  const tool = useResource((abort) => get<Tool>(`/tools/${encodeURIComponent(name)}`, {}, abort), name);
  const t = tool.data.value, invalid = !t && tool.error.value?.code === 'invalid-definition';
  return <Page name={name} title={<span class="row">{name}{t && <Risk risk={t.risk} />}{t?.version && <span class="tag">{t.version}</span>}</span>}
    actions={<>
      {mayEdit() && (t ? t.file !== undefined : invalid) && <LinkButton href={pathOf('edit', name)}>Edit</LinkButton>}
      {mayOperate() && tab !== 'run' && t && <LinkButton kind="primary" href={pathOf('tools', name, 'run')}>Run</LinkButton>}
    </>}>
    {tool.error.value?.status === 404 ? <><Problem error={tool.error.value} /><p><A href="/tools">All tools</A></p></> : <>
    <Tabs label="Parts of the tool" selected={tab} tabs={tabs.filter(([n]) => n !== 'run' || mayOperate() || tab === 'run').map(([n, text]) => ({ name: n, text, href: n ? pathOf('tools', name, n) : pathOf('tools', name) }))} />
    {t?.broken && <div class="problem" role="status"><strong>The newest version of the definition is invalid.</strong><p>The last valid version is in use. <A href={pathOf('tools', name, 'source')}>See what is wrong</A>.</p></div>}
    {tab === 'source' || invalid && tab !== 'history' ? <Source name={name} /> : tab === 'history' ? <History tool={name} /> : <Load from={tool}>{(t) =>
      tab === 'run' ? <RunForm key={name} tool={t} /> : tab === 'graph' ? <ToolGraph name={name} /> : tab === 'schema' ? <Schema name={name} /> : <Overview tool={t} />}</Load>}</>}
  </Page>;
}

function Overview({ tool: t }: { tool: Tool }) {
  const stats = useResource((abort) => get<Stats>(`/tools/${encodeURIComponent(t.name)}/stats`, { limit: 30 }, abort), t.name).data.value;
  const facts: [string, any][] = [
    ['Source', <>{kindWords[t.kind] ?? t.kind}{t.scope && scopeWords[t.scope] ? `, ${scopeWords[t.scope].toLowerCase()}` : ''}{t.file && <>, <code>{t.file}</code></>}</>],
    ['Stands for', t.base_tool && <A href={pathOf('tools', t.base_tool)}>{t.base_tool}</A>],
    ['Tags', t.tags.length > 0 && <Tags tags={t.tags} />],
    ['Category', t.category], ['Author', t.author], ['Deprecated', t.deprecated && (t.deprecated_message || 'yes')],
    ['Platforms', t.platforms?.join(', ')], ['Timeout', t.timeout_ms && duration(t.timeout_ms)],
    ['Rights', t.execution_privilege], ['Isolation', t.isolation],
    ['Permissions', t.permissions && <ul>{t.permissions.map((p) => <li key={p}><code>{p}</code></li>)}</ul>], ['Because', t.justification],
    ['Uses', t.uses && t.uses.map((u, i) => <span key={u}>{i > 0 && ', '}<A href={pathOf('tools', u)}>{u}</A></span>)],
    ['Name for models', <code>{t.mcp_name}</code>],
  ];
  return <>
    {t.description && <div class="description"><Markdown text={t.description.trim()} /></div>}
    {stats && stats.total.runs > 0 && <Numbers total={stats.total}><A class="spark-link" href={pathOf('tools', t.name, 'history')}><Sparkline runs={stats.history.runs} /><span>last runs</span></A></Numbers>}
    <Section title="Parameters">{t.fields.length === 0 ? <Empty>It has no parameters.</Empty> : <Parameters tool={t} />}</Section>
    <Section title="About"><dl class="facts body">{facts.filter(([, v]) => v).map(([k, v]) => <div key={k}><dt>{k}</dt><dd>{v}</dd></div>)}</dl></Section>
    {t.tests.length > 0 && <Section title="Tests" aside={<Copy kind="quiet" text={`flowrun tool test ${t.name}`}>Copy the command</Copy>}>
      <ul class="body tests">{t.tests.map((test) => <li key={test.name} class="row">
        {test.status ? <span class={`status s-${test.status === 'passed' ? 'succeeded' : 'failed'}`}><Glyph state={test.status === 'passed' ? 'succeeded' : 'failed'} />{test.status}</span> : <span class="muted">not run yet</span>}
        <strong>{test.name}</strong> <span class="muted">{test.description}</span>
        {test.at && <span class="muted"><Time at={test.at} />{test.changed && ', before the definition was changed'}</span>}</li>)}</ul></Section>}
  </>;
}

function Parameters({ tool }: { tool: Tool }) {
  return <div class="table-scroll"><table>
    <thead><tr><th>Name</th><th>Type</th><th>Default</th><th>Description</th></tr></thead>
    <tbody>{tool.fields.map((f) => <tr key={f.name}>
      <td><code>{f.name}</code>{f.required && <span class="required" title="required"> *<span class="sr-only"> required</span></span>}</td>
      <td>{f.secret ? 'secret' : f.type}</td>
      <td class="default">{f.default !== undefined && <code>{shown(f.default)}</code>}</td>
      <td>{f.description}{f.enum && <div class="muted">One of {f.enum.map((v, i) => <span key={i}>{i > 0 && ', '}<code>{shown(v)}</code></span>)}</div>}
        {f.examples && <div class="muted">For example {f.examples.map((v, i) => <span key={i}>{i > 0 && ', '}<code>{shown(v)}</code></span>)}</div>}</td>
    </tr>)}</tbody>
  </table></div>;
}

const formats: [string, string][] = [['mcp', 'MCP'], ['openai', 'OpenAI'], ['anthropic', 'Anthropic'], ['gemini', 'Gemini'], ['json-schema', 'JSON Schema']];

function Schema({ name }: { name: string }) {
  const format = routed.value.query.get('format') ?? 'mcp';
  const schema = useResource((abort) => get<unknown>(`/tools/${encodeURIComponent(name)}/function`, { format }, abort), [name, format]);
  return <Section title="As models see it" aside={<select aria-label="Form of the declaration" value={format} onChange={(e: any) => setQuery({ format: e.currentTarget.value })}>
    {formats.map(([value, text]) => <option value={value} key={value}>{text}</option>)}</select>}>
    <Load from={schema}>{(doc) => {
      const text = write(doc, 2);
      return <><Code text={text} label="Declaration" /><div class="body"><Copy text={text}>Copy for a model</Copy></div></>;
    }}</Load>
  </Section>;
}

interface SourceDoc { text: string; file: string; diagnostics: Diagnostic[] }

function Source({ name }: { name: string }) {
  const source = useResource((abort) => get<SourceDoc>(`/tools/${encodeURIComponent(name)}/source`, {}, abort), name);
  return <Load from={source}>{(s) => s.file === '' ? <Section title="Source"><Empty>The tool is not in a file.</Empty></Section>
    : <>
      {s.diagnostics.length > 0 && <Diagnostics list={s.diagnostics} />}
      <Section title={<code>{s.file}</code>} aside={<Copy kind="quiet" text={s.text} />}><Code text={s.text} /></Section>
    </>}</Load>;
}
