// The one stream of events of this tab. Browsers allow few connections to one service, so a tab
// never has more than one, and none while it is hidden. When it comes back, the stream continues
// after the last event that was received: nothing is missed.
import { useEffect, useRef } from 'preact/hooks';
import { signal } from '@preact/signals';
import { get } from './api';

/** Whether the stream is connected. 'idle' means that the page needs none. */
export const connection = signal<'idle' | 'connecting' | 'open' | 'lost'>('idle');

export interface Handlers {
  /** One event: a flowrun/event.v1 document. */
  event(e: any): void;
  /** Events are missing: read the state again. */
  reset?(): void;
  /** The stream has ended for good, as for a run that has ended. */
  end?(status: string): void;
}

/** Follows a stream while the component is shown. An empty url follows nothing. */
export function useStream(url: string, handlers: Handlers) {
  const current = useRef(handlers);
  current.current = handlers;
  useEffect(() => (url ? follow(url, {
    event: (e) => current.current.event(e),
    reset: () => current.current.reset?.(),
    end: (status) => current.current.end?.(status),
  }) : undefined), [url]);
}

const maxDelay = 15_000;

/** Follows a stream until the returned function is called. */
export function follow(url: string, handlers: Required<Handlers>): () => void {
  let source: EventSource | undefined, last = '', delay = 500, timer = 0, over = false;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = () => {
    close();
    if (over || document.hidden) return;
    connection.value = connection.value === 'lost' ? 'lost' : 'connecting';
    const s = (source = new EventSource(url + (last && (url.includes('?') ? '&' : '?') + 'after=' + last)));
    s.onopen = () => { connection.value = 'open'; delay = 500; };
    s.onmessage = (m) => {
      if (m.lastEventId) last = m.lastEventId;
      handlers.event(JSON.parse(m.data));
    };
    s.addEventListener('reset', () => handlers.reset());
    s.addEventListener('end', (m) => {
      over = true;
      close();
      connection.value = 'idle';
      handlers.end(JSON.parse((m as MessageEvent).data).status);
    });
    s.onerror = () => { // also after a normal end of the connection
      close();
      connection.value = 'lost';
      get('/session').catch(() => {}); // signs in again if the session has ended; a stream does not say why it failed
      timer = setTimeout(open, delay);
      delay = Math.min(delay * 2, maxDelay);
    };
  };
  const visibility = () => {
    if (document.hidden) close();
    else if (!source) open();
  };
  document.addEventListener('visibilitychange', visibility);
  addEventListener('online', open);
  open();
  return () => {
    over = true;
    close();
    document.removeEventListener('visibilitychange', visibility);
    removeEventListener('online', open);
    connection.value = 'idle';
  };
}

/**
 * Calls reload soon after something happened in any run, at most once in every interval, and
 * whenever events were missed. Lists use it: they read again instead of following each event.
 */
export function useChanges(reload: () => void, wanted: (e: any) => boolean = () => true, interval = 1000) {
  const timer = useRef(0);
  const due = () => {
    if (!timer.current) timer.current = setTimeout(() => { timer.current = 0; reload(); }, interval);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  useStream('/api/v1/events', { event: (e) => { if (wanted(e)) due(); }, reset: due });
}
