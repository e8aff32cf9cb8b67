// The page: its views, which of them is shown, light or dark, printing.

import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Facts } from '../data/facts';
import { store, useStore } from '../store';
import { Timeline } from '../timeline/model';
import { Counters } from './charts';
import { Collectives, hasCollectives } from './collectives';
import { Architecture, Documents, DocumentTables, hasArchitecture } from './documents';
import { Guard } from './guard';
import { Icicle } from './icicle';
import { Kernels } from './kernels';
import { Keys } from './keys';
import { Overview } from './overview';
import { OverlayView } from './overlay';
import { Roofline } from './roofline';
import { hasStalls, Stalls } from './stalls';
import { Story } from './story';
import { Tables } from './tables';
import { TimelineView } from './timeline';

interface View {
  id: string;
  title: string;
  print: boolean;
  show: (printing: boolean) => ComponentChildren;
}

function viewsOf(facts: Facts, timeline: Timeline | null): View[] {
  const views: View[] = [];
  if (facts.summary) views.push({ id: 'overview', title: 'Overview', print: true, show: () => <Overview facts={facts} /> });
  if (facts.documents) views.push({ id: 'documents', title: 'Report', print: true, show: (p) => <Documents facts={facts} full={p} /> });
  if (hasArchitecture(facts)) views.push({ id: 'architecture', title: 'Architecture', print: false, show: () => <Architecture facts={facts} /> });
  if (facts.kernels && facts.kernels.length > 0) views.push({ id: 'kernels', title: 'Kernels', print: true, show: (p) => <Kernels facts={facts} full={p} /> });
  if (facts.overlay) views.push({ id: 'overlay', title: 'Overlay', print: true, show: (p) => <OverlayView facts={facts} full={p} /> });
  if (facts.timeline && facts.timeline.tracks.length > 0) {
    views.push({
      id: 'timeline',
      title: 'Timeline',
      print: false,
      show: () => (timeline ? <TimelineView facts={facts} timeline={timeline} /> : <p role="status">Reading the events …</p>),
    });
  }
  if ((facts.ops?.length ?? 0) > 0 || (facts.hardware?.kernels.length ?? 0) > 0) views.push({ id: 'roofline', title: 'Roofline', print: true, show: (p) => <Roofline facts={facts} full={p} /> });
  if (hasStalls(facts)) views.push({ id: 'stalls', title: 'Stalls', print: true, show: (p) => <Stalls facts={facts} full={p} /> });
  if (facts.trees) views.push({ id: 'tree', title: 'Call tree', print: true, show: (p) => <Icicle facts={facts} full={p} /> });
  if (facts.tables && facts.tables.length > 0) views.push({ id: 'tables', title: 'Tables', print: true, show: (p) => (facts.documents ? <DocumentTables facts={facts} full={p} /> : <Tables facts={facts} full={p} />) });
  if (hasCollectives(facts)) views.push({ id: 'collectives', title: 'Collectives', print: true, show: (p) => <Collectives facts={facts} full={p} /> });
  if (facts.timeline) views.push({ id: 'counters', title: 'Memory and counters', print: false, show: (p) => <Counters facts={facts} full={p} /> });
  if (facts.story && facts.story.length > 0) views.push({ id: 'story', title: 'Story', print: true, show: () => <Story facts={facts} /> });
  return views;
}

function useTheme(): [string, () => void] {
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
  const [theme, setTheme] = useState<string>(() => {
    try {
      return localStorage.getItem('fathom-theme') ?? (isDark ? 'dark' : 'light');
    } catch {
      return isDark ? 'dark' : 'light';
    }
  });
  // Before the first paint: a dark page does not flash white.
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
    dispatchEvent(new Event('fathom-theme'));
  }, [theme]);
  return [
    theme,
    () => {
      const next = theme === 'dark' ? 'light' : 'dark';
      try {
        localStorage.setItem('fathom-theme', next);
      } catch {
        // Pages from disk may not store anything.
      }
      setTheme(next);
    },
  ];
}

export function App({ facts, blocks }: { facts: Facts; blocks: () => Promise<string> }) {
  const state = useStore();
  const [timeline, setTimeline] = useState<Timeline | null>(null);
  const [printing, setPrinting] = useState(false);
  const [theme, toggle] = useTheme();
  useEffect(() => {
    if (!facts.timeline) return;
    // After the first view is on the screen.
    const timer = setTimeout(() => {
      void blocks().then((text) => Timeline.open(facts, text)).then(async (made) => {
        await made.loadOverviews();
        setTimeline(made);
        performance.mark('fathom-timeline');
        void made.loadAll();
      });
    }, 0);
    return () => clearTimeout(timer);
  }, [facts]);
  useEffect(() => {
    const before = () => setPrinting(true);
    const after = () => setPrinting(false);
    addEventListener('beforeprint', before);
    addEventListener('afterprint', after);
    return () => {
      removeEventListener('beforeprint', before);
      removeEventListener('afterprint', after);
    };
  }, []);

  const views = viewsOf(facts, timeline);
  const current = views.find((v) => v.id === state.view) ?? views[0];
  const move = (by: number) => {
    const at = views.indexOf(current);
    const next = views[(at + by + views.length) % views.length];
    store.set({ view: next.id });
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return (
    <>
      <header>
        <div class="title">
          <h1>{facts.title}</h1>
          <Keys />
          <button type="button" onClick={toggle} aria-label={`Switch to ${theme === 'dark' ? 'light' : 'dark'} colours`}>
            {theme === 'dark' ? '☀' : '☾'}
          </button>
        </div>
        <p class="headline">{facts.headline}</p>
        <div role="tablist" aria-label="Views">
          {views.map((v) => (
            <button
              key={v.id}
              type="button"
              role="tab"
              id={`tab-${v.id}`}
              aria-selected={v === current}
              aria-controls="view"
              tabIndex={v === current ? 0 : -1}
              onClick={() => store.set({ view: v.id })}
              onKeyDown={(e) => {
                if (e.key === 'ArrowRight') move(1);
                if (e.key === 'ArrowLeft') move(-1);
              }}
            >
              {v.title}
            </button>
          ))}
        </div>
      </header>
      <main id="view" role="tabpanel" aria-labelledby={`tab-${current.id}`}>
        {printing ? views.filter((v) => v.print).map((v) => <Guard key={v.id}>{v.show(true)}</Guard>) : <Guard key={current.id}>{current.show(false)}</Guard>}
      </main>
      <footer>
        {facts.program}. {facts.summary ? 'The numbers are those of summary.json and perf_report_csvs/.' : 'The same report is in the files beside this page.'}
      </footer>
    </>
  );
}
