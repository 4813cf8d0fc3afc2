/** What a person should know of a run beside its status. */
import { useSignal } from '@preact/signals';
import type { Notice } from '../types';

const most = 5; // that are shown at first

export function Notices({ of = [] }: { of?: Notice[] }) {
  const all = useSignal(false);
  if (of.length === 0) return null;
  return <ul class="notices" aria-label="Notices">
    {of.slice(0, all.value ? of.length : most).map((n) => <li title={n.code}>{n.message}</li>)}
    {of.length > most && !all.value && <li><button type="button" class="button quiet" onClick={() => { all.value = true; }}>{of.length - most} more</button></li>}
  </ul>;
}
