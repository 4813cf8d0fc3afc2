// The entry of the pages: which page an address shows. Every page is in its own file.
import './tokens.css';
import './base.css';
import './shell.css';
import './parts.css';
import './login.css';

import { render } from 'preact';
import './cut_text';
import { Home } from './home';
import { later } from './later';
import { A, match, routed } from './router';
import { Runs } from './runs';
import { RunPage } from './run/page';
import { Shell } from './shell';
import { Waiting } from './waiting';
import { Empty, Page } from './parts';

// routes is the table of pages. :name is one part of the path; a missing last part is ''.
const routes: [pattern: string, page: (p: { params: Record<string, string> }) => any][] = [
  ['/', Home],
  ['/runs', Runs],
  ['/runs/:id/:tab?', RunPage],
  ['/waiting', Waiting],
  ['/locks', later('Locks')],
  ['/tools', later('ToolList')],
  ['/tools/:name/:tab?', later('ToolPage')],
  ['/schedules', later('Schedules')],
  ['/audit', later('Audit')],
  ['/edit/:name', later('Editor')],
];

function App() {
  for (const [pattern, View] of routes) {
    const params = match(pattern, routed.value.path);
    if (params) return <Shell><View params={params} /></Shell>;
  }
  return <Shell><Page title="Not found"><Empty>There is no page at this address. <A href="/">Home</A></Empty></Page></Shell>;
}

render(<App />, document.getElementById('app')!);
