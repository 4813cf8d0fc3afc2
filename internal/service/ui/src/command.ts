// Commands that do the same as a page, for a shell.

/** Quotes a word for a POSIX shell. */
export function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/** The values of a call by name. Secrets are not in it: they are read from variables of the shell. */
export interface Call { tool: string; params: Record<string, unknown>; secrets: string[] }

/** flowrun run TOOL NAME=value ... */
export function asCli({ tool, params, secrets }: Call): string {
  const words = ['flowrun run', quote(tool)];
  for (const [name, value] of Object.entries(params)) {
    words.push(typeof value === 'string' && !value.startsWith('@') ? quote(`${name}=${value}`) : quote(`${name}:=${JSON.stringify(value)}`));
  }
  return [...words, ...secrets.map((name) => `${name}="$${name}"`)].join(' ');
}

/** curl ... /api/v1/runs */
export function asCurl({ tool, params, secrets }: Call): string {
  const known = JSON.stringify({ tool, params });
  const body = secrets.length === 0 ? quote(known)
    : quote(known.slice(0, -2) + (Object.keys(params).length ? ',' : '')) + secrets.map((name, i) => `'${i ? ',' : ''}${JSON.stringify(name)}:"'"$${name}"'"'`).join('') + `'}}'`;
  return `curl -sS -H "Authorization: Bearer $FLOWRUN_TOKEN" -H 'Content-Type: application/json' \\\n  -d ${body} ${location.origin}/api/v1/runs`;
}
