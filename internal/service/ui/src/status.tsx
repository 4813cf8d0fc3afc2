// The state of a run or step: a word, a colour and a shape, so that colour alone never tells it.
import { clock } from './format';

export type State = 'pending' | 'running' | 'retrying' | 'waiting' | 'succeeded' | 'reused' | 'failed' | 'skipped' | 'cancelled' | 'timed-out' | 'interrupted';

export const states: State[] = ['pending', 'running', 'retrying', 'waiting', 'succeeded', 'reused', 'failed', 'skipped', 'cancelled', 'timed-out', 'interrupted'];

/** The word that people read. */
export const word = (s: State) => (s === 'timed-out' ? 'timed out' : s);

/** Whether the state is final. */
export const settled = (s: State) => !['pending', 'running', 'retrying', 'waiting'].includes(s);

const reasons: Record<string, string> = {
  'upstream-failed': 'a step before it failed', condition: 'its condition is false', timeout: 'it took too long', cancelled: 'the run was cancelled',
  'fail-fast': 'another step failed', interrupted: 'flowrun was killed', cache: 'from the cache', rejected: 'a person rejected it',
};

/** Why something has its state, in words; '' for what needs no explanation. */
export function explain(r: { status: State; reason?: string; message?: string; exit_code?: number; last_sign?: string }): string {
  if (r.message) return r.message;
  if (r.last_sign && r.status === 'interrupted') return `interrupted; last sign of life ${clock(r.last_sign)}`;
  if (r.reason === 'exit') return r.exit_code ? `exit code ${r.exit_code}` : '';
  return reasons[r.reason ?? ''] ?? r.reason ?? '';
}

// Paths in a box of 16 by 16. Filled shapes are ends, outlines are under way.
const shapes: Record<State, any> = {
  pending: <circle cx="8" cy="8" r="5.500" class="line" stroke-dasharray="2 2.320" />,
  running: <g><circle cx="8" cy="8" r="5.500" class="line faint" /><path d="M8 2.500a5.500 5.500 0 0 1 5.500 5.500" class="line spin" /></g>,
  retrying: <path d="M13 6.500A5.500 5.500 0 1 0 13.300 9.500M13.500 2.500v4h-4" class="line" />,
  waiting: <g><circle cx="8" cy="8" r="5.500" class="line" /><path d="M6.500 5.800v4.400M9.500 5.800v4.400" class="line" /></g>,
  succeeded: <g><circle cx="8" cy="8" r="7" class="fill" /><path d="m4.800 8.200 2.200 2.200 4.200-4.600" class="cut" /></g>,
  reused: <g><circle cx="8" cy="8" r="5.800" class="line" /><path d="m5.200 8.200 2 2 3.700-4.200" class="line" /></g>,
  failed: <g><path d="M5.100 1h5.800L15 5.100v5.800L10.900 15H5.100L1 10.900V5.100z" class="fill" /><path d="m5.500 5.500 5 5m0-5-5 5" class="cut" /></g>,
  skipped: <g><circle cx="8" cy="8" r="5.500" class="line" /><path d="M5.500 8h5" class="line" /></g>,
  cancelled: <g><circle cx="8" cy="8" r="5.800" class="line" /><path d="m4 12 8-8" class="line" /></g>,
  'timed-out': <g><path d="M8 1l7 7-7 7-7-7z" class="fill" /><path d="M8 4.800V8l2 1.400" class="cut" /></g>,
  interrupted: <g><path d="M8 1.300 15.200 14H.8z" class="fill" /><path d="M8 6v3.600M8 11.400v.7" class="cut" /></g>,
};

/** The shape of a state, for use inside an SVG. */
export const shape = (s: State) => shapes[s] ?? shapes.pending;

/** The shape of a state. It is for the eye only: the word must be beside it, or a label around it. */
export function Glyph({ state, size = 16 }: { state: State; size?: number }) {
  return <svg class={`glyph s-${state}`} viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">{shape(state)}</svg>;
}

/** The shape and the word. */
export function Status({ state, note }: { state: State; note?: string }) {
  return <span class={`status s-${state}`}><Glyph state={state} /><span>{word(state)}{note ? ` (${note})` : ''}</span></span>;
}
