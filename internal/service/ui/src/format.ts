// Times, durations and sizes as people read them.
import { signal } from '@preact/signals';

/** By how many milliseconds the service's clock is ahead of the browser's: at least and at most, as far as its answers say. */
let least = -Infinity, most = Infinity;

/** The time of the service's clock in milliseconds. Everything on a page is measured with it. */
export const serviceNow = () => Date.now() + Math.min(Math.max(0, least), most);

/** Learns the service's clock from the Date of an answer, which has whole seconds, and from when the browser sent and received it. */
export function noteServiceTime(date: string | null, sent: number, received: number) {
  const t = Date.parse(date ?? '');
  if (Number.isNaN(t)) return;
  const low = t - received, high = t + 999 - sent;
  if (low > most || high < least) [least, most] = [low, high]; // a clock was set
  else [least, most] = [Math.max(least, low), Math.min(most, high)];
}

/** serviceNow; changes every second while the tab is visible. */
export const now = signal(serviceNow());
setInterval(() => { if (!document.hidden) now.value = serviceNow(); }, 1000);

/** 850 ms, 3.2 s, 4 m 05 s, 2 h 03 m, 3 d 4 h */
export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return '';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s.toFixed(s < 10 ? 1 : 0)} s`;
  const whole = Math.round(s), two = (n: number) => String(n).padStart(2, '0');
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${two(whole % 60)} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${two(Math.floor(whole / 60) % 60)} m`;
  return `${Math.floor(whole / 86400)} d ${Math.floor(whole / 3600) % 24} h`;
}

/** 17 s, of which 16 s waiting */
export function spent(d: { took: number; waited: number; idle: number }): string {
  const parts = [d.waited >= 50 && `${duration(d.waited)} waiting`, d.idle >= 50 && `${duration(d.idle)} not running`].filter(Boolean).join(' and ');
  return (duration(d.took) || '0 ms') + (parts && ', of which ' + parts);
}

/** just now, 12 s ago, 5 m ago, 3 h ago, 2 d ago; 'in 5 m' for the future */
export function ago(time: string | number, at: number = now.value): string {
  const s = Math.round((at - new Date(time).getTime()) / 1000), a = Math.abs(s);
  if (a < 3) return 'just now';
  const text = a < 60 ? `${a} s` : a < 3600 ? `${Math.floor(a / 60)} m` : a < 86400 ? `${Math.floor(a / 3600)} h` : `${Math.floor(a / 86400)} d`;
  return s < 0 ? `in ${text}` : `${text} ago`;
}

/** The time zone of the browser, which all times have that do not name another. */
export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const dateTime = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });

/** 2026-11-23 14:05:09, in the time zone of the browser */
export function clock(time: string | number): string {
  const t = new Date(time);
  return Number.isNaN(t.getTime()) ? '' : dateTime.format(t);
}

/** 512 B, 3.4 KiB, 12 MiB */
export function bytes(n: number): string {
  let unit = 0;
  while (n >= 1024 && unit < 4) { n /= 1024; unit++; }
  return `${unit === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][unit]}`;
}

/** What a step used: CPU time in milliseconds in a document, in nanoseconds in an event. */
export interface Usage { cpu_ms?: number; user_ns?: number; system_ns?: number; max_rss_bytes?: number }

/** , 1.2 s CPU, 340 MiB */
export function used(u?: Usage): string {
  return u ? `, ${duration(u.cpu_ms ?? ((u.user_ns ?? 0) + (u.system_ns ?? 0)) / 1e6)} CPU${u.max_rss_bytes ? ', ' + bytes(u.max_rss_bytes) : ''}` : '';
}

/** 1 step, 2 steps */
export function count(n: number, one: string, many = one + 's'): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}
