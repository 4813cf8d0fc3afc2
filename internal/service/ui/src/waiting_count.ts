// How many questions wait for somebody: in the navigation, in the title of the tab and in its icon.
import { effect, signal } from '@preact/signals';

/** Pages that read the questions set it; others count the runs that wait. */
export const waitingCount = signal(0);

/** The title of the page without the count. */
export const pageTitle = signal('');

effect(() => {
  const n = waitingCount.value, title = pageTitle.value;
  document.title = (n ? `(${n}) ` : '') + (title ? `${title} · flowrun` : 'flowrun');
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')!, href = new URL(`icon${n ? '-waiting' : ''}.svg`, import.meta.url).pathname;
  if (icon.getAttribute('href') !== href) icon.setAttribute('href', href);
});

/** Whether this browser tells of new questions, if its user has allowed it. */
export const notifies = signal(localStorage.getItem('notify') === '1');

/** Turns that on, after it has asked the browser, or off. */
export async function toggleNotifies() {
  notifies.value = !notifies.value && await Notification.requestPermission() === 'granted';
  localStorage.setItem('notify', notifies.value ? '1' : '0');
}

/** Takes a new count; one that has grown is told to a person who looks at something else. */
export function countWaiting(n: number) {
  if (n > waitingCount.peek() && document.hidden && notifies.peek()) {
    const told = new Notification(n === 1 ? 'A run waits for an answer' : `${n} runs wait for an answer`, { tag: 'flowrun-waiting' });
    told.onclick = () => { focus(); location.assign('/waiting'); };
  }
  waitingCount.value = n;
}
