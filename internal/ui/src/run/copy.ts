// A run as a command that starts it again.
import type { RunDoc } from '../types';

type Started = Pick<RunDoc, 'tool' | 'params' | 'withheld'>;

/** A word for a shell: no character of it has a meaning. */
const quote = (s: string) => (/^[\w@%+=:,./-]+$/.test(s) ? s : `'${s.replaceAll("'", `'\\''`)}'`);

/** The parameters that can be given again: without secrets, and without those that have no value. */
function given(run: Started): [name: string, value: unknown][] {
  return Object.entries(run.params ?? {}).filter(([name, v]) => v !== null && v !== '***' && !run.withheld?.includes(name));
}

/** An assignment of the command line. NAME=@x would read a file, so such a text is written as JSON. */
function assignment([name, v]: [string, unknown]): string {
  return quote(typeof v === 'string' && !v.startsWith('@') ? `${name}=${v}` : `${name}:=${JSON.stringify(v)}`);
}

/** The command that starts a run with these parameters. */
export function asCommand(run: Started): string {
  return ['flowrun run', quote(run.tool), ...given(run).map(assignment)].join(' ');
}

/** The request that does the same. */
export function asCurl(run: Started, origin: string): string {
  const body = JSON.stringify({ tool: run.tool, params: Object.fromEntries(given(run)) });
  return `curl -sS -H "Authorization: Bearer $FLOWRUN_TOKEN" -H "Content-Type: application/json" -d ${quote(body)} ${quote(origin)}/api/v1/runs`;
}
