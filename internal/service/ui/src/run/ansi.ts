// Turns a line with terminal sequences into spans of text. Only colours and styles have an effect;
// all other sequences are removed. The result is shown as text nodes, so it can never become code.
export interface Span { text: string; class: string; style?: { color?: string; backgroundColor?: string } }

interface Look { bold?: boolean; faint?: boolean; italic?: boolean; underline?: boolean; inverse?: boolean; strike?: boolean; fg?: string | number; bg?: string | number }

// CSI sequences, OSC sequences up to their end, and other two-character sequences.
const sequence = /\x1b\[([0-9;:?<=>]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|\x9b[0-9;:?]*[ -/]*[@-~]/g;
// Characters that have no shape or change the direction of text are shown by their number.
// Joiners between letters or signs are part of how those are written.
const invisible = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|(?<![\p{L}\p{M}\p{Extended_Pictographic}\ufe0f])[\u200c\u200d]|[\u200c\u200d](?![\p{L}\p{M}\p{Extended_Pictographic}])/gu;

const visible = (text: string) => text.replace(invisible, (c) => {
  const n = c.charCodeAt(0);
  return n < 32 ? String.fromCharCode(0x2400 + n) : `<${n.toString(16).toUpperCase().padStart(4, '0')}>`;
});

/** The spans of one line. */
export function spans(line: string): Span[] {
  const end = line.replace(/\r+$/, ''), back = end.lastIndexOf('\r'); // a progress bar writes its line again and again
  const text = back >= 0 ? end.slice(back + 1) : end;
  const list: Span[] = [];
  let look: Look = {}, at = 0;
  const add = (part: string) => { if (part) list.push(span(visible(part), look)); };
  for (const m of text.matchAll(sequence)) {
    add(text.slice(at, m.index));
    at = m.index! + m[0].length;
    if (m[2] === 'm' && !/[?<=>]/.test(m[1])) look = change({ ...look }, m[1]);
  }
  add(text.slice(at));
  return list;
}

/** Applies the numbers of one SGR sequence. */
function change(look: Look, numbers: string): Look {
  const codes = numbers.split(/[;:]/).map(Number);
  for (let i = 0; i < codes.length; i++) {
    const c = codes[i];
    if (c === 0) look = {};
    else if (c === 1) look.bold = true;
    else if (c === 2) look.faint = true;
    else if (c === 3) look.italic = true;
    else if (c === 4) look.underline = true;
    else if (c === 7) look.inverse = true;
    else if (c === 9) look.strike = true;
    else if (c === 22) look.bold = look.faint = false;
    else if (c === 23) look.italic = false;
    else if (c === 24) look.underline = false;
    else if (c === 27) look.inverse = false;
    else if (c === 29) look.strike = false;
    else if (c >= 30 && c <= 37) look.fg = c - 30;
    else if (c >= 90 && c <= 97) look.fg = c - 82;
    else if (c >= 40 && c <= 47) look.bg = c - 40;
    else if (c >= 100 && c <= 107) look.bg = c - 92;
    else if (c === 39) look.fg = undefined;
    else if (c === 49) look.bg = undefined;
    else if (c === 38 || c === 48) {
      const name = c === 38 ? 'fg' : 'bg';
      if (codes[i + 1] === 5) { look[name] = indexed(codes[i + 2]); i += 2; }
      else if (codes[i + 1] === 2) { look[name] = rgb(codes.slice(i + 2, i + 5)); i += 4; }
    }
  }
  return look;
}

const rgb = (c: number[]) => c.length < 3 ? '' : `rgb(${c.map((n) => Math.max(0, Math.min(255, n || 0))).join(' ')})`;

/** A colour of the palette of 256: the first 16 are those of the theme. */
function indexed(n: number): string | number {
  if (!(n >= 16)) return n || 0;
  if (n >= 232) return rgb([8 + (n - 232) * 10, 8 + (n - 232) * 10, 8 + (n - 232) * 10]);
  const level = (v: number) => (v ? 55 + v * 40 : 0);
  return rgb([level(Math.floor((n - 16) / 36)), level(Math.floor((n - 16) / 6) % 6), level((n - 16) % 6)]);
}

function span(text: string, l: Look): Span {
  const names: string[] = [], style: Span['style'] = {};
  for (const name of ['bold', 'faint', 'italic', 'underline', 'strike'] as const) if (l[name]) names.push('t-' + name);
  const [fg, bg] = l.inverse ? [l.bg ?? 'back', l.fg ?? 'front'] : [l.fg, l.bg];
  if (typeof fg === 'number' || fg === 'back') names.push('f-' + fg);
  else if (fg) style.color = bg ? fg : `light-dark(oklch(from ${fg} min(l, 0.5) c h), oklch(from ${fg} max(l, 0.72) c h))`; // readable on the page
  if (typeof bg === 'number' || bg === 'front') names.push('b-' + bg);
  else if (bg) style.backgroundColor = bg;
  return { text, class: names.join(' '), style: style.color || style.backgroundColor ? style : undefined };
}
