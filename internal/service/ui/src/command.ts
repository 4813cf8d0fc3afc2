// Commands that do the same as a page, for a shell. How words are written is the same as in package shellword.
import { write } from './json';

/** How a shell writes words, and the value of a variable of the environment. */
interface Shell { word(text: string): string; variable(name: string): string }

/** Whether a text has no character with a meaning to a shell. */
const plain = (text: string) => /^[\w\-./:,@%+][\w\-./:,@%+=]*$/.test(text);

const sh: Shell = {
  word: (text) => (plain(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`),
  variable: (name) => `"$${name}"`,
};

/** The shells for which commands are copied. */
export const shells: Record<'sh' | 'fish' | 'powershell', Shell> = {
  sh,
  fish: { ...sh, word: (text) => (plain(text) ? text : `'${text.replace(/[\\']/g, '\\$&')}'`) },
  powershell: {
    word: (text) => (plain(text) && /^\w/.test(text) && !/[,@%]/.test(text) ? text : `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`),
    variable: (name) => `"$\{env:${name}}"`,
  },
};

/** The values of a call by name. Secrets are not in it: they are read from variables of the shell. */
export interface Call { tool: string; params: Record<string, unknown>; secrets: string[] }

/** The variable of the shell that has a secret. */
const variableOf = (secret: string) => secret.replaceAll('-', '_');

/** flowrun run TOOL NAME=value ... */
export function asCli({ tool, params, secrets }: Call, shell: keyof typeof shells = 'sh'): string {
  const { word, variable } = shells[shell];
  const words = Object.entries(params).map(([name, value]) => word(typeof value === 'string' && !value.startsWith('@') ? `${name}=${value}` : `${name}:=${write(value)}`));
  return ['flowrun run', word(tool), ...words, ...secrets.map((name) => word(`${name}=`) + variable(variableOf(name)))].join(' ');
}

/** curl ... /api/v1/runs, for a POSIX shell. jq makes JSON of secrets. */
export function asCurl({ tool, params, secrets }: Call): string {
  let text = write({ tool, params }).slice(0, -2), body = '', comma = Object.keys(params).length ? ',' : '';
  for (const name of secrets) {
    body += sh.word(`${text}${comma}${JSON.stringify(name)}:`) + `"$(printf %s ${sh.variable(variableOf(name))} | jq -Rs .)"`;
    text = '';
    comma = ',';
  }
  return `curl -sS -H "Authorization: Bearer $FLOWRUN_TOKEN" -H 'Content-Type: application/json' \\\n  -d ${body}${sh.word(text + '}}')} ${sh.word(location.origin + '/api/v1/runs')}`;
}
