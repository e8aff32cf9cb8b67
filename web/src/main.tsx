import { render } from 'preact';
import { inflateText } from './data/decode';
import { makeSafe, type Facts } from './data/facts';
import { store } from './store';
import { App } from './view/app';

// The events stand behind this script: they are there when the page has been read to its end.
function blocks(): Promise<string> {
  return new Promise((done) => {
    const read = () => done(document.getElementById('blocks')?.textContent ?? '');
    if (document.readyState === 'loading') addEventListener('DOMContentLoaded', read, { once: true });
    else read();
  });
}

async function start(): Promise<void> {
  const root = document.getElementById('app')!;
  try {
    const facts = makeSafe(JSON.parse(await inflateText(document.getElementById('facts')!.textContent!)) as Facts);
    document.title = `${facts.title} · Fathom`;
    store.open();
    root.replaceChildren();
    render(<App facts={facts} blocks={blocks} />, root);
    performance.mark('fathom-first-view');
  } catch (error) {
    root.textContent = `The page could not be read (${String(error)}). It may have been cut off: write the report again.`;
    throw error;
  }
}

void start();
