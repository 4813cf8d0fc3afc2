// Keys of the pages. A key is one character, a name such as Enter, or two in a row, as in 'g r'.
import { useLayoutEffect, useRef } from 'preact/hooks';

export interface Binding { keys: string; does: string; run: () => void }

const active = new Set<{ current: Binding[] }>();

/** All keys that work now, for the help. */
export function bindings(): Binding[] {
  return [...active].flatMap((list) => list.current);
}

/** Keys that work while the component is shown. */
export function useKeys(list: Binding[]) {
  const ref = useRef(list);
  ref.current = list;
  useLayoutEffect(() => {
    active.add(ref);
    return () => { active.delete(ref); };
  }, []);
}

let prefix = '', prefixTime = 0;

addEventListener('keydown', (e) => {
  if (e.defaultPrevented || e.metaKey || e.ctrlKey || e.altKey || isTyping(e.target) || isPressing(e)) return;
  const two = Date.now() - prefixTime < 1200 ? prefix + ' ' + e.key : '';
  prefix = e.key;
  prefixTime = Date.now();
  const all = [...active].reverse().flatMap((list) => list.current); // the innermost component first
  const found = all.find((b) => b.keys === two) ?? all.find((b) => b.keys === e.key);
  if (!found) return;
  e.preventDefault();
  prefix = '';
  found.run();
});

/** Whether the key presses the link or button that has the focus. */
function isPressing(e: KeyboardEvent): boolean {
  return (e.key === 'Enter' || e.key === ' ') && !!(e.target as HTMLElement | null)?.closest?.('a, button, summary');
}

function isTyping(target: EventTarget | null): boolean {
  const el = target as HTMLElement | null;
  return !!el?.closest?.('input:not([type=checkbox]):not([type=radio]):not([type=range]), textarea, select, [contenteditable], dialog[open]');
}
