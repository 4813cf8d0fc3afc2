// What surrounds every page: navigation, theme, keys, messages.
import { useLayoutEffect } from 'preact/hooks';
import { signal, useSignal } from '@preact/signals';
import { get, mayAudit, session, type Session } from './api';
import { zone } from './format';
import { bindings, useKeys } from './keys';
import { later } from './later';
import { announcement, Button, Dialog, toasts } from './parts';
import { A, navigate, routed } from './router';
import { connection, wantCounts } from './stream';
import { waitingCount } from './waiting_count';

/** The pages of the menu. */
const allPlaces = [
  { href: '/', text: 'Home', key: 'g h', icon: 'M2.500 7.500 8 3l5.500 4.500V13h-4V9.500h-3V13h-4z' },
  { href: '/runs', text: 'Runs', key: 'g r', icon: 'M3 4h10M3 8h10M3 12h6' },
  { href: '/tools', text: 'Tools', key: 'g t', icon: 'M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z' },
  { href: '/schedules', text: 'Schedules', key: 'g s', icon: 'M8 2.500a5.500 5.500 0 1 0 0 11 5.500 5.500 0 1 0 0-11M8 5v3.200l2.200 1.300' },
  { href: '/waiting', text: 'Waiting', key: 'g w', icon: 'M3 3h10v7H8l-3 3v-3H3z' },
  { href: '/locks', text: 'Locks', key: 'g l', icon: 'M4 7.500h8V13H4zM5.500 7.500V5.500a2.500 2.500 0 0 1 5 0v2' },
  { href: '/audit', text: 'Audit', key: 'g a', icon: 'M4 2.500h8v11H4zM6 6h4M6 8.500h4M6 11h2.500' },
];

const places = () => allPlaces.filter((p) => p.href !== '/audit' || mayAudit());

type Theme = 'system' | 'light' | 'dark';
const theme = signal<Theme>((localStorage.getItem('theme') as Theme) ?? 'system');

function showTheme() {
  const t = theme.value;
  if (t === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.dataset.theme = t;
}
showTheme();

function setTheme(t: Theme) {
  theme.value = t;
  localStorage.setItem('theme', t);
  showTheme();
}

const Choices = later('Choices');

export function Shell({ children }: { children?: any }) {
  const help = useSignal(false), palette = useSignal(false);
  useLayoutEffect(() => {
    get<Session>('/session').then((s) => { session.value = s; }, () => {});
  }, []);
  const closePalette = () => { palette.value = false; };
  const path = routed.value.path;
  useLayoutEffect(() => wantCounts(path !== '/' && path !== '/waiting'), [path]); // those read the questions themselves
  useLayoutEffect(() => {
    const open = (e: KeyboardEvent) => {
      if (e.key.toLowerCase() !== 'k' || !(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey) return;
      e.preventDefault();
      palette.value = true;
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  useKeys([
    ...places().map((p) => ({ keys: p.key, does: p.text, run: () => navigate(p.href) })),
    { keys: '/', does: 'Search this page', run: () => document.querySelector<HTMLInputElement>('[data-search]')?.focus() },
    { keys: 'Control-K', does: 'Go to a page, a tool or a run', run: () => { palette.value = true; } },
    { keys: '?', does: 'Show the keys', run: () => { help.value = true; } },
  ]);
  return <div class="shell">
    <a class="skip-link" href="#main">Skip to the page</a>
    <SideBar onHelp={() => { help.value = true; }} />
    {connection.value === 'lost' && <div class="offline" role="status">The connection to the service is lost. Trying again …</div>}
    <div class="content">{children}</div>
    <div class="toasts" role="status">{toasts.value.map((t) => <div key={t.id} class={t.bad ? 'toast bad' : 'toast'}>{t.text}</div>)}</div>
    <div class="sr-only" aria-live="polite">{announcement.value}</div>
    {palette.value && <Dialog title="Go to" onClose={closePalette}><Choices places={places()} close={closePalette} /></Dialog>}
    {help.value && <KeyHelp onClose={() => { help.value = false; }} />}
  </div>;
}

function SideBar({ onHelp }: { onHelp(): void }) {
  const path = routed.value.path;
  return <header class="sidebar">
    <A class="brand" href="/" aria-label="flowrun, home"><img src={new URL('icon.svg', import.meta.url).pathname} alt="" width="22" height="22" /><span>flowrun</span></A>
    <nav aria-label="Pages">
      {places().map((p) => <A href={p.href} key={p.href} aria-current={(p.href === '/' ? path === '/' : path === p.href || path.startsWith(p.href + '/')) ? 'page' : undefined}>
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d={p.icon} /></svg>
        <span>{p.text}</span>
        {p.href === '/waiting' && waitingCount.value > 0 && <span class="badge">{waitingCount.value}<span class="sr-only"> waiting</span></span>}
      </A>)}
    </nav>
    <div class="sidebar-foot">
      <select aria-label="Theme" value={theme.value} onChange={(e: any) => setTheme(e.currentTarget.value)}>
        <option value="system">System theme</option><option value="light">Light theme</option><option value="dark">Dark theme</option>
      </select>
      <span class="muted zone" title="The time zone of this browser">Times in {zone}</span>
      <Button kind="quiet" onClick={onHelp}>Keys <kbd>?</kbd></Button>
      {session.value && <UserMenu session={session.value} />}
    </div>
  </header>;
}

function UserMenu({ session: s }: { session: Session }) {
  return <div class="user">
    <span title={`flowrun ${s.version}`}>{s.user || 'Signed in'}{s.read_only ? ', read-only' : s.role === 'admin' ? '' : `, ${s.role}`}</span>
    {s.signed_in && <form method="post" action="/logout"><Button kind="quiet" type="submit">Sign out</Button></form>}
  </div>;
}

function KeyHelp({ onClose }: { onClose(): void }) {
  return <Dialog title="Keys" onClose={onClose}>
    <table class="keys"><tbody>
      {bindings().map((b) => <tr key={b.keys}><td>{b.keys.split(' ').map((k) => <kbd key={k}>{k}</kbd>)}</td><td>{b.does}</td></tr>)}
    </tbody></table>
    <p><a href="/docs">Documentation</a></p>
  </Dialog>;
}
