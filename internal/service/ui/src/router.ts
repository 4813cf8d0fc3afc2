// The address of the page as a signal. What a page shows (tab, filters, selection, time) is in
// its address, so that a link shows the same to somebody else and Back works.
import { h } from 'preact';
import { signal } from '@preact/signals';

export interface Address { path: string; query: URLSearchParams }

function read(): Address {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

/** The current address. */
export const routed = signal(read());

addEventListener('popstate', () => { routed.value = read(); });

/** Opens a page without loading the document again. */
export function navigate(href: string, how: { replace?: boolean } = {}) {
  if (href === location.pathname + location.search) return;
  history[how.replace ? 'replaceState' : 'pushState'](null, '', href);
  const before = routed.peek().path;
  routed.value = read();
  if (routed.peek().path !== before && !how.replace) scrollTo(0, 0);
}

/** Changes parts of the query; '' , null and undefined remove a part. */
export function setQuery(changes: Record<string, string | number | null | undefined>, how = { replace: true }) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '' || value == null) query.delete(name);
    else query.set(name, String(value));
  }
  const text = query.toString();
  navigate(location.pathname + (text && '?' + text), how);
}

/** Returns the parameters of a path that has the form of the pattern, else null. */
export function match(pattern: string, path: string): Record<string, string> | null {
  const want = pattern.split('/').filter(Boolean), have = path.split('/').filter(Boolean);
  const params: Record<string, string> = {};
  if (have.length > want.length) return null;
  for (let i = 0; i < want.length; i++) {
    const optional = want[i].endsWith('?'), name = want[i].replace(/^:|\?$/g, '');
    if (i >= have.length && !optional) return null;
    if (!want[i].startsWith(':')) {
      if (want[i] !== have[i]) return null;
      continue;
    }
    try {
      params[name] = decodeURIComponent(have[i] ?? '');
    } catch {
      return null; // not a valid escape
    }
  }
  return params;
}

/** Makes a path of parts, each escaped. */
export function pathOf(...parts: string[]): string {
  return '/' + parts.map(encodeURIComponent).join('/');
}

/** A link to a page. */
export function A(props: { href: string; class?: string; children?: any; [name: string]: any }) {
  return h('a', {
    ...props,
    onClick: (e: MouseEvent) => {
      props.onClick?.(e);
      if (e.defaultPrevented || e.button || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey || props.target) return;
      e.preventDefault();
      navigate(props.href);
    },
  });
}
