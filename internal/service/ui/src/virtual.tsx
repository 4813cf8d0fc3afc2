// A list that shows only the rows that can be seen, so that 10,000 rows cost what 50 do.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';

export function Virtual(p: { count: number; height: number; class?: string; label: string; show?: number; row: (i: number) => any }) {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0), seen = useSignal(600);
  useLayoutEffect(() => {
    const el = box.current!;
    const measure = new ResizeObserver(() => { seen.value = el.clientHeight; });
    measure.observe(el);
    return () => measure.disconnect();
  }, []);
  useLayoutEffect(() => { // the row that somebody asked for
    const el = box.current!, at = (p.show ?? -1) * p.height;
    if (at >= 0 && (at < el.scrollTop || at > el.scrollTop + el.clientHeight - p.height)) el.scrollTop = Math.max(0, at - el.clientHeight / 3);
  }, [p.show]);
  const first = Math.max(0, Math.floor(top.value / p.height) - 10);
  const last = Math.min(p.count, Math.ceil((top.value + seen.value) / p.height) + 10);
  const rows: any[] = [];
  for (let i = first; i < last; i++) rows.push(p.row(i));
  return <div ref={box} class={`virtual ${p.class ?? ''}`} role="list" aria-label={p.label} tabIndex={0} onScroll={(e: any) => { top.value = e.currentTarget.scrollTop; }}>
    <div style={{ height: p.count * p.height + 'px', paddingTop: first * p.height + 'px' }}>{rows}</div>
  </div>;
}
