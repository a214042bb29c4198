/** The page. */
import { render } from 'preact';
import { Announcements } from './shell/announcements.tsx';
import { Footer } from './shell/footer.tsx';
import { Header } from './shell/header.tsx';
import { startShortcuts } from './shell/shortcuts.ts';
import { ViewHost } from './shell/view-host.tsx';
import { startStream } from './state/live.ts';
import { letGoOfOldTrees } from './state/old-trees.ts';
import { startScroll } from './state/scroll.ts';
import { watchStanding } from './state/standing.ts';
import { watchStandstill } from './state/standstill.ts';

function Page() {
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Header />
      <ViewHost />
      <Footer />
      <Announcements />
    </>
  );
}

const root = document.getElementById('page');
if (!root) throw new Error('the document has no place for the page');
root.replaceChildren();
letGoOfOldTrees();
render(<Page />, root);
startScroll();
startShortcuts();
startStream();
watchStanding();
watchStandstill();
