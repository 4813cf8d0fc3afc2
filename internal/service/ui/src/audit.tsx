// Who did what: the audit log. All filters are in the address.
import './audit.css';
import { get, useResource } from './api';
import { count, serviceNow } from './format';
import { Button, Empty, Load, Page, Time } from './parts';
import { A, navigate, pathOf, routed, setQuery } from './router';
import { ages, Times, Typed } from './runs';
import { useChanges } from './stream';

/** The document flowrun/audit.v1. */
interface Log { entries: { at: string; who: string; action: string; run?: string; detail: string }[]; next?: number }

const actions = ['start', 'approve', 'refuse', 'answer', 'resume', 'cancel', 'prune', 'schedule', 'set state', 'user', 'notify', 'attention', 'interrupted'];
const filters = ['who', 'action', 'run', 'age', 'since', 'until', 'before'];

export function Audit() {
  const q = routed.value.query, age = ages[q.get('age') ?? ''], action = q.get('action') ?? '';
  const log = useResource((abort) => get<Log>('/audit', {
    who: q.get('who'), action, run: q.get('run'), since: age ? new Date(serviceNow() - age[1]).toISOString() : q.get('since'), until: q.get('until'), before: q.get('before'), limit: 50,
  }, abort), filters.map((n) => q.get(n)));
  useChanges(log.reload, (e) => e.kind.startsWith('run.'), 3000);
  const set = (name: string) => (e: any) => setQuery({ [name]: e.currentTarget.value.trim(), before: null });
  const only = (name: string, value: string, children: any) => <button type="button" class="link" title={`Only ${value}`} onClick={() => setQuery({ [name]: value, before: null })}>{children}</button>;
  return <Page title="Audit">
    <form class="filters" role="search" aria-label="Filter the audit log" onSubmit={(e) => e.preventDefault()}>
      <div class="row">
        <Typed data-search type="search" aria-label="Person" placeholder="Person" value={q.get('who') ?? ''} onChange={set('who')} />
        <select aria-label="Action" value={action} onChange={set('action')}><option value="">Any action</option>{[...new Set([...actions, action])].filter(Boolean).map((a) => <option key={a} value={a}>{a}</option>)}</select>
        <Typed type="search" aria-label="Id of a run" placeholder="Id of a run" value={q.get('run') ?? ''} onChange={set('run')} />
        <Times />
        {filters.some((n) => q.has(n)) && <Button kind="quiet" onClick={() => navigate('/audit')}>Clear</Button>}
      </div>
    </form>
    <div class="section"><Load from={log}>{({ entries }) => entries.length === 0 ? <Empty>{filters.some((n) => q.has(n)) ? 'Nothing matches these filters.' : 'Nothing is in the audit log yet.'}</Empty>
      : <table class="audit"><thead><tr><th>When</th><th>Who</th><th>Action</th><th>Run</th><th>What</th></tr></thead>
        <tbody>{entries.map((e, i) => <tr key={i}>
          <td class="muted"><Time at={e.at} absolute /></td><td>{only('who', e.who, <b>{e.who}</b>)}</td><td>{only('action', e.action, e.action)}</td>
          <td>{e.run && <A href={pathOf('runs', e.run)}><code>{e.run}</code></A>}</td><td class="what">{e.detail}</td></tr>)}</tbody></table>}</Load></div>
    <nav class="pages" aria-label="More entries">
      {q.has('before') && <Button onClick={() => setQuery({ before: null }, { replace: false })}>Newest entries</Button>}
      {log.data.value?.next && <Button onClick={() => { setQuery({ before: log.data.value!.next }, { replace: false }); scrollTo(0, 0); }}>Older entries</Button>}
      {log.data.value && <span class="sr-only" role="status">{count(log.data.value.entries.length, 'entry', 'entries')}</span>}
    </nav>
  </Page>;
}
