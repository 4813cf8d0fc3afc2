// The parts that pages are made of.
import { useLayoutEffect, useRef } from 'preact/hooks';
import { signal, useSignal } from '@preact/signals';
import type { ApiError, Resource } from './api';
import { A } from './router';
import { ago, clock, zone } from './format';
import { pageTitle } from './waiting_count';

/** A page: its title, its actions, and what it shows. */
export function Page(p: { title: any; name?: string; actions?: any; children?: any; wide?: boolean }) {
  const title = p.name ?? (typeof p.title === 'string' ? p.title : '');
  useLayoutEffect(() => { pageTitle.value = title; }, [title]);
  return <main id="main" class={p.wide ? 'page wide' : 'page'} tabIndex={-1}>
    <header class="page-head"><h1>{p.title}</h1>{p.actions && <div class="actions">{p.actions}</div>}</header>
    {p.children}
  </main>;
}

/** A part of a page with a heading. */
export function Section(p: { title: any; aside?: any; children?: any; class?: string }) {
  return <section class={`section ${p.class ?? ''}`}><header><h2>{p.title}</h2>{p.aside && <div class="aside">{p.aside}</div>}</header>{p.children}</section>;
}

type ButtonKind = 'primary' | 'danger' | 'plain' | 'quiet';

/** A button. With busy it is disabled and says so. */
export function Button({ kind = 'plain', busy, children, ...rest }: { kind?: ButtonKind; busy?: boolean; children?: any; [name: string]: any }) {
  return <button type="button" {...rest} class={`button ${kind} ${rest.class ?? ''}`} disabled={busy || rest.disabled} aria-busy={busy}>{children}</button>;
}

/** A link that looks like a button. */
export function LinkButton({ kind = 'plain', ...rest }: { kind?: ButtonKind; href: string; children?: any; [name: string]: any }) {
  return <A {...rest} class={`button ${kind} ${rest.class ?? ''}`} />;
}

/** Tabs are links, so that each has an address. */
export function Tabs(p: { label: string; tabs: { name: string; href: string; text: any; count?: number }[]; selected: string }) {
  return <nav class="tabs" aria-label={p.label}>
    {p.tabs.map((t) => <A href={t.href} key={t.name} aria-current={t.name === p.selected ? 'page' : undefined}>
      {t.text}{t.count ? <span class="badge">{t.count}</span> : null}</A>)}
  </nav>;
}

/** A dialog over the page. Escape and a click outside close it. */
export function Dialog(p: { title: string; onClose(): void; children?: any; wide?: boolean }) {
  const ref = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const d = ref.current!;
    d.showModal();
    return () => d.close();
  }, []);
  return <dialog ref={ref} class={p.wide ? 'wide' : ''} aria-label={p.title} onCancel={(e: Event) => { e.preventDefault(); p.onClose(); }}
    onClick={(e: MouseEvent) => { if (e.target === ref.current) p.onClose(); }}>
    <div class="dialog-box">
      <header><h2>{p.title}</h2><Button kind="quiet" aria-label="Close" onClick={p.onClose}>×</Button></header>
      {p.children}
    </div>
  </dialog>;
}

/** A button that copies a text. */
export function Copy({ text, children = 'Copy', kind = 'plain' }: { text: string | (() => string); children?: any; kind?: ButtonKind }) {
  const done = useSignal(false);
  const copy = async () => {
    const value = typeof text === 'function' ? text() : text;
    try {
      await navigator.clipboard.writeText(value);
    } catch { // not allowed outside localhost and TLS
      const area = document.createElement('textarea');
      area.value = value;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    done.value = true;
    setTimeout(() => { done.value = false; }, 1500);
  };
  return <Button kind={kind} onClick={copy}>{done.value ? 'Copied' : children}</Button>;
}

/** Actions that are used seldom, under one button. */
export function Menu({ label, children }: { label: string; children?: any }) {
  const ref = useRef<HTMLDetailsElement>(null);
  const close = () => { if (ref.current) ref.current.open = false; };
  useLayoutEffect(() => {
    const outside = (e: Event) => { if (!ref.current?.contains(e.target as Node)) close(); };
    document.addEventListener('click', outside);
    return () => document.removeEventListener('click', outside);
  }, []);
  return <details class="menu" ref={ref} onKeyDown={(e: KeyboardEvent) => { if (e.key === 'Escape') { close(); ref.current!.querySelector('summary')!.focus(); } }}>
    <summary class="button" aria-label={label}>⋯</summary><div class="menu-box">{children}</div></details>;
}

/** What is shown where there is nothing. */
export function Empty({ children }: { children?: any }) {
  return <div class="empty">{children}</div>;
}

/** An error, with what to do about it and a way to try again. */
export function Problem({ error, retry }: { error: ApiError; retry?: () => void }) {
  return <div class="problem" role="alert">
    <strong>{error.message}</strong>
    {error.hint && !error.hint.includes('/api/v1/') && <p>{error.hint}</p>}
    {error.problems.length > 0 && <ul>{error.problems.map((d) => <li key={d.name + d.code}><code>{d.name}</code> {d.message}{d.hint ? ` (${d.hint})` : ''}</li>)}</ul>}
    {retry && <Button onClick={retry}>Try again</Button>}
  </div>;
}

/** Shows a resource when it is there, and its error or that it is being read otherwise. */
export function Load<T>({ from, children }: { from: Resource<T>; children: (data: T) => any }) {
  const data = from.data.value, error = from.error.value;
  return <>
    {error && <Problem error={error} retry={from.reload} />}
    {data !== undefined ? children(data) : !error && <div class="loading" role="status">Loading …</div>}
  </>;
}

/** A time as people say it, with the exact time on hover. */
export function Time({ at, absolute }: { at: string; absolute?: boolean }) {
  return <time dateTime={at} title={`${clock(at)} ${zone}`}>{absolute ? clock(at) : ago(at)}</time>;
}

/** A field of a form with its label, help and problem. */
export function Field(p: { label: any; id: string; help?: any; problem?: string; required?: boolean; children?: any }) {
  return <div class={p.problem ? 'field bad' : 'field'}>
    <label for={p.id}>{p.label}{p.required && <span class="required" aria-hidden="true"> *</span>}</label>
    {p.children}
    {p.help && <div class="help" id={p.id + '-help'}>{p.help}</div>}
    {p.problem && <div class="field-problem" id={p.id + '-problem'} role="alert">{p.problem}</div>}
  </div>;
}

/** Text that a screen reader says when it changes. Set it when something happened that is only seen. */
export const announcement = signal('');

interface Toast { id: number; text: string; bad: boolean }
export const toasts = signal<Toast[]>([]);
let toastId = 0;

/** Tells for some seconds that something was done, or failed. */
export function toast(text: string, bad = false) {
  const t = { id: ++toastId, text, bad };
  toasts.value = [...toasts.value, t];
  setTimeout(() => { toasts.value = toasts.value.filter((o) => o !== t); }, bad ? 8000 : 4000);
}

/** Does something that can fail, and tells if it did. Returns whether it succeeded. */
export async function attempt(action: () => Promise<unknown>, done = ''): Promise<boolean> {
  try {
    await action();
  } catch (e: any) {
    toast([e.message, e.hint].filter(Boolean).join(' '), true);
    return false;
  }
  if (done) toast(done);
  return true;
}
