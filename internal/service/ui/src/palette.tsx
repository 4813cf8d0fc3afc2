// The command palette: pages, tools and runs by a few letters.
import './palette.css';
import { useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { get, mayOperate, useResource } from './api';
import { ago } from './format';
import { navigate, pathOf } from './router';
import { Glyph, type State } from './status';
import type { RunList } from './types';

interface Choice { text: string; about: string; href: string; state?: State }

/** Whether all words are in a text, in any order. */
const has = (text: string, words: string[]) => words.every((w) => text.toLowerCase().includes(w));

const most = 12;

/** The field has the focus, whether it or the dialog is there first: this is for a dialog that is open, autofocus for one that is opened. */
const focus = (el: HTMLElement | null) => el?.focus();

/** What is shown in the dialog of the palette. */
export function Choices({ places, close }: { places: { text: string; href: string }[]; close(): void }) {
  const text = useSignal(''), at = useSignal(0), list = useRef<HTMLUListElement>(null);
  const tools = useResource((a) => get<{ tools: { name: string; description: string }[] }>('/tools', {}, a)).data.value?.tools ?? [];
  const runs = useResource((a) => get<RunList>('/runs', { limit: 50 }, a)).data.value?.runs ?? [];
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all: Choice[] = [
    ...places.map((p) => ({ text: p.text, about: 'page', href: p.href })),
    ...tools.flatMap((t) => [{ text: t.name, about: 'tool', href: pathOf('tools', t.name) }, ...(mayOperate() ? [{ text: `Run ${t.name}`, about: 'action', href: pathOf('tools', t.name, 'run') }] : [])]),
    ...runs.map((r) => ({ text: `${r.tool} ${r.id}`, about: `run, ${ago(r.started)}`, href: pathOf('runs', r.id), state: r.status })),
  ];
  const found = all.filter((c) => has(`${c.text} ${c.about}`, words)).slice(0, most);
  if (/^[0-9][0-9a-z]{3,12}$/.test(text.value) && !found.some((c) => c.href === pathOf('runs', text.value))) found.push({ text: `Runs that begin with ${text.value}`, about: 'search', href: '/runs?q=' + text.value });
  const go = (c?: Choice) => { if (c) { close(); navigate(c.href); } };
  const move = (by: number) => { at.value = Math.max(0, Math.min(found.length - 1, at.value + by)); list.current?.children[at.value]?.scrollIntoView({ block: 'nearest' }); };
  const onKey = (e: KeyboardEvent) => {
    if (e.key === 'ArrowDown') move(1);
    else if (e.key === 'ArrowUp') move(-1);
    else if (e.key === 'Enter') go(found[at.value]);
    else return;
    e.preventDefault();
  };
  return <>
    <input ref={focus} autofocus class="palette-text" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant={found.length ? `palette-${at.value}` : undefined} aria-label="A page, a tool or a run" placeholder="A page, a tool or a run"
      autocomplete="off" spellcheck={false} value={text.value} onInput={(e: any) => { text.value = e.currentTarget.value; at.value = 0; }} onKeyDown={onKey} />
    <ul class="palette" id="palette-list" role="listbox" aria-label="What was found" ref={list}>
      {found.map((c, i) => <li key={c.href + c.about} id={`palette-${i}`} role="option" aria-selected={i === at.value} onClick={() => go(c)}>{c.state && <Glyph state={c.state} />}<span class="clip">{c.text}</span> <span class="muted">{c.about}</span></li>)}
    </ul>
    {found.length === 0 && <p class="muted">Nothing has all of these words.</p>}
  </>;
}
