// A text that is cut off says the whole of itself when the pointer reaches it: one rule for every element whose style
// cuts its text, so that none can be forgotten.

const ours = new WeakSet<HTMLElement>();

addEventListener('pointerover', ({ target }) => {
  for (let e = target instanceof HTMLElement ? target : null; e; e = e.parentElement) {
    if (e.title && !ours.has(e)) return;
    if (getComputedStyle(e).textOverflow !== 'ellipsis') continue;
    e.title = e.scrollWidth > e.clientWidth ? e.innerText : '';
    ours.add(e);
    return;
  }
});
