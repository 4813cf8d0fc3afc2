// The lines in which two texts differ.
export interface Line { mark: ' ' | '+' | '-'; text: string; old: number; now: number }

const largest = 4_000_000; // products of lengths: a longer middle is shown as replaced

/** Returns the lines of both texts, with those that only one of them has marked. */
export function diff(before: string, after: string): Line[] {
  const a = before.split('\n'), b = after.split('\n');
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const lines: Line[] = [];
  const add = (mark: Line['mark'], i: number, j: number) => { lines.push({ mark, text: mark === '+' ? b[j] : a[i], old: i + 1, now: j + 1 }); };
  for (let i = 0; i < start; i++) add(' ', i, i);
  const m = endA - start, n = endB - start, common = new Uint32Array(m * n <= largest ? (m + 1) * (n + 1) : 0), width = n + 1;
  if (common.length) {
    for (let i = m - 1; i >= 0; i--) {
      for (let j = n - 1; j >= 0; j--) {
        common[i * width + j] = a[start + i] === b[start + j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
      }
    }
  }
  for (let i = 0, j = 0; i < m || j < n;) {
    if (common.length && i < m && j < n && a[start + i] === b[start + j]) add(' ', start + i++, start + j++);
    else if (i < m && (j >= n || !common.length || common[(i + 1) * width + j] >= common[i * width + j + 1])) add('-', start + i++, start + j);
    else add('+', start + i, start + j++);
  }
  for (let i = endA, j = endB; i < a.length; i++, j++) add(' ', i, j);
  return lines;
}

/** Returns the changed lines with some lines around them; null stands for lines that are left out. */
export function hunks(lines: Line[], around = 3): (Line | null)[] {
  const near = new Set<number>();
  lines.forEach((l, i) => { if (l.mark !== ' ') for (let k = i - around; k <= i + around; k++) near.add(k); });
  return lines.flatMap((l, i) => (near.has(i) ? [l] : near.has(i - 1) || i === 0 ? [null] : []));
}
