// The files that the steps of a run have kept, with a preview.
import './artifacts.css';
import { get, url, useResource } from '../api';
import { bytes, clock, count } from '../format';
import { Empty, Load, Section } from '../parts';
import { A, routed, setQuery } from '../router';
import { tabHref, type RunView } from './page';
import { kindOf, Preview } from './preview';
import { keptCount } from './steps';

interface Kept { step: string; name: string; files?: number; size?: number; digest: string; expires?: string }
interface File { path: string; folder?: boolean; size: number; digest?: string; target?: string }

/** The address of the content of an artifact, or of one of its files. */
export const contentOf = (run: string, a: { step: string; name: string }, file?: string, download = false) =>
  url(`/runs/${encodeURIComponent(run)}/artifact`, { step: a.step, name: a.name, file, download: download ? 1 : undefined });

export function Artifacts({ id, run }: RunView) {
  const list = useResource((abort) => get<{ artifacts: Kept[] }>(`/runs/${encodeURIComponent(id)}/artifacts`, {}, abort), [id, keptCount(run.steps)]);
  return <Load from={list}>{({ artifacts }) => artifacts.length === 0 ? <div class="section"><Empty>No step has kept files so far.</Empty></div> : <>
    {artifacts.length > 1 && <p class="actions artifacts-all"><span class="muted">{count(artifacts.length, 'artifact')}, {bytes(artifacts.reduce((n, a) => n + (a.size ?? 0), 0))}</span>
      <a class="button" download href={url(`/runs/${encodeURIComponent(id)}/artifact-archive`)}>Download all</a></p>}
    {artifacts.map((a) => <Artifact key={`${a.step} ${a.name}`} run={id} artifact={a} />)}
  </>}</Load>;
}

function Artifact({ run, artifact: a }: { run: string; artifact: Kept }) {
  const q = routed.value.query, mine = q.get('artifact') === a.name && (q.get('step') ?? a.step) === a.step;
  const open = mine ? q.get('file') : null;
  const files = useResource(async (abort) => (await get<{ files: File[] }>(`/runs/${encodeURIComponent(run)}/artifact-files`, { step: a.step, name: a.name }, abort)).files.filter((f) => !f.folder), [run, a.step, a.name]);
  return <Section title={<>{a.name} <span class="muted">of <A href={tabHref(run, 'logs', { step: a.step })}>{a.step}</A></span></>}
    aside={<>{(a.files ?? 1) > 1 && `${count(a.files!, 'file')}, `}{bytes(a.size ?? 0)}{a.expires && <>, until {clock(a.expires)}</>}
      {(a.files ?? 1) > 1 && <a class="button quiet" download href={contentOf(run, a, undefined, true)}>Download as zip</a>}</>}>
    <Load from={files}>{(list) => <ul class="files">{list.map((f) => <li key={f.path}>
      {f.digest ? <button type="button" class="link clip" aria-expanded={open === f.path} title={f.path} onClick={() => setQuery(open === f.path ? { artifact: null, file: null } : { step: a.step, artifact: a.name, file: f.path })}>{f.path}</button>
        : <span class="clip">{f.path} <span class="muted">{f.target && `→ ${f.target}`}</span></span>}
      <span class="muted">{kindOf(f.path)}</span><span class="number muted">{f.digest && bytes(f.size)}</span>
      <span class="actions">{f.digest && <><a class="button quiet" target="_blank" href={contentOf(run, a, f.path)}>Open</a><a class="button quiet" download href={contentOf(run, a, f.path, true)}>Download</a></>}</span>
      {open === f.path && <Preview name={f.path} size={f.size} href={contentOf(run, a, f.path)} />}
    </li>)}</ul>}</Load>
    <p class="digest muted small" title="The SHA-256 of the file, or of the list of files">{a.digest}</p>
  </Section>;
}
