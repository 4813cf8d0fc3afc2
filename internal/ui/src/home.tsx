import { Empty, Page } from './parts';

export function Home() {
  return <Page title="Home"><Empty>Nothing runs now.</Empty></Page>;
}
