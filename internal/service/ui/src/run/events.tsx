// Everything that happened in a run, in order.
import { useSignal } from '@preact/signals';
import { clock, duration } from '../format';
import { write } from '../json';
import { Copy, Dialog, Empty } from '../parts';
import { explain, Glyph, word } from '../status';
import type { RunEvent } from '../types';
import { Virtual } from '../virtual';
import type { RunView } from './page';

/** What an event says, in words. */
function says(e: RunEvent): string {
  const r = e.result;
  switch (e.kind) {
    case 'step.started': return `attempt ${e.attempt}` + ((e.queued_ns ?? 0) >= 1e6 ? `, after ${duration(e.queued_ns! / 1e6)} in the queue` : '');
    case 'step.expanded': return `${e.items ?? 0} items`;
    case 'step.retrying': return [explain(r), `next attempt at ${clock(e.due!)}`].filter(Boolean).join('; ');
    case 'step.waiting': return r?.wait?.prompt ?? (r?.wait?.until ? `until ${clock(r.wait.until)}` : '');
    case 'run.resumed': return e.reset?.length ? `runs again: ${e.reset.join(', ')}` : '';
    case 'run.cancelling': return e.reason ?? '';
  }
  if (!r) return '';
  return [word(r.status), explain(r)].filter(Boolean).join(': ');
}

export function Events({ events }: RunView) {
  const find = useSignal(''), open = useSignal<RunEvent | undefined>(undefined);
  const word = find.value.toLowerCase();
  const wanted = word ? events.filter((e) => `${e.kind} ${e.node ?? ''} ${says(e)}`.toLowerCase().includes(word)) : events;
  const start = events.length ? Date.parse(events[0].time) : 0;
  return <>
    <div class="toolbar">
      <input data-search type="search" aria-label="Find events" placeholder="Find events" value={find.value} onInput={(e: any) => { find.value = e.currentTarget.value; }} />
      <span class="muted">{wanted.length === events.length ? `${events.length} events` : `${wanted.length} of ${events.length} events`}</span>
    </div>
    <div class="section">
      {wanted.length === 0 ? <Empty>No event matches.</Empty> : <Virtual class="events" label="Events" count={wanted.length} height={30} row={(i) => {
        const e = wanted[i];
        return <div class="event-row" role="listitem" key={e.seq}>
          <button type="button" class="number seq" onClick={() => { open.value = e; }} aria-label={`Event ${e.seq}`}>{e.seq}</button>
          <time class="number" dateTime={e.time} title={clock(e.time)}>+{duration(Date.parse(e.time) - start) || '0 ms'}</time>
          <span class="kind">{e.result ? <Glyph state={e.result.status} size={14} /> : <i class="dot" />}{e.kind}</span>
          <code class="clip">{e.node}</code>
          <span class="clip muted">{says(e)}</span>
        </div>;
      }} />}
    </div>
    {open.value && <Dialog wide title={`Event ${open.value.seq}`} onClose={() => { open.value = undefined; }}>
      <pre class="code">{write(open.value, 2)}</pre>
      <div class="actions"><Copy text={() => write(open.value, 2)} /></div>
    </Dialog>}
  </>;
}
