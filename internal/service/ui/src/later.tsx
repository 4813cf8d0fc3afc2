// Parts of the pages that most visits do not need. They are in a second file, more.js, which is loaded when
// the first of them is shown.
import { useLayoutEffect } from 'preact/hooks';
import { signal } from '@preact/signals';
import { Button } from './parts';

type More = typeof import('./more');

const loaded = signal<More | 'failed' | undefined>(undefined);

/** A component of the second file. Until the file is there it says so, and if that fails how to go on. */
export function later<Name extends keyof More>(name: Name): More[Name] {
  return ((props: any) => {
    useLayoutEffect(() => { loaded.value ?? import('./more').then((m) => { loaded.value = m; }, () => { loaded.value = 'failed'; }); }, []); // a browser loads a file once, also if it fails
    const more = loaded.value;
    if (more === 'failed') return <LoadFailed />;
    if (!more) return <div class="loading" role="status">Loading …</div>;
    const Part = more[name] as any;
    return <Part {...props} />;
  }) as More[Name];
}

function LoadFailed() {
  return <div class="problem" role="alert"><strong>This part of the page cannot be loaded.</strong>
    <p>The service does not answer, or it was updated since this page was opened.</p>
    <Button onClick={() => location.reload()}>Reload the page</Button></div>;
}
