// The timeline with its search, selection and sums.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { Facts } from '../data/facts';
import { count, shortName, time } from '../data/format';
import { store, useStore } from '../store';
import { TimelineCanvas } from '../timeline/canvas';
import type { EventAt, Timeline } from '../timeline/model';
import { Details } from './details';
import { EventsInView, RangeSums } from './range';

const mostMatches = 200_000;

const help: [string, string][] = [
  ['W S', 'zoom in and out'],
  ['A D', 'move left and right'],
  ['Ctrl + wheel', 'zoom at the pointer'],
  ['drag', 'move'],
  ['Shift + drag, or drag the ruler', 'select a range'],
  ['← → ↑ ↓', 'next event, row above and below'],
  ['Enter', 'follow launch ↔ kernel'],
  ['F', 'fit the selection'],
  ['M', 'select the range of the event'],
  ['0', 'whole timeline'],
  ['/', 'search'],
  ['N, Shift + N', 'next and last match'],
  ['Esc', 'clear'],
];

interface Hover {
  event: EventAt;
  x: number;
  y: number;
}

export function TimelineView({ facts, timeline }: { facts: Facts; timeline: Timeline }) {
  const state = useStore();
  const scroller = useRef<HTMLDivElement>(null);
  const spacer = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const view = useRef<TimelineCanvas | null>(null);
  const [event, setEvent] = useState<EventAt | null>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const [matches, setMatches] = useState<{ number: number; start: number }[] | null>(null);
  const [range, setRange] = useState<[number, number]>(state.range ?? [0, timeline.length]);
  const shownEvent = useRef<number | null>(null);

  useEffect(() => {
    const made = new TimelineCanvas(scroller.current!, spacer.current!, canvas.current!, timeline, {
      viewChanged: (begin, end) => {
        setRange([begin, end]);
        store.set({ range: [begin, end] });
      },
      selected: (e) => void select(e, false),
      spanSelected: (begin, end) => store.set({ span: [begin, end] }),
      hovered: (e, x, y) => setHover(e && { event: e, x, y }),
    });
    view.current = made;
    (window as unknown as { fathomTimeline: TimelineCanvas }).fathomTimeline = made;
    if (state.range) made.setView(state.range[0], state.range[1], false);
    return () => made.destroy();
  }, [timeline]);

  const select = async (e: EventAt | null, show: boolean, zoom = false) => {
    const partner = e && (await timeline.linked(e));
    shownEvent.current = e?.number ?? null;
    setEvent(e);
    view.current?.select(e, partner);
    if (e && show) view.current?.showEvent(e, zoom);
    store.set({ event: e?.number ?? null });
  };

  // A selection that came from elsewhere: a link, a finding, the way back.
  useEffect(() => {
    if (state.event === shownEvent.current) return;
    if (state.event === null) void select(null, false);
    else void timeline.find(state.event).then((found) => found && select(found, true, state.range === null));
  }, [state.event, timeline]);

  const finding = state.finding !== null ? facts.findings?.[state.finding] : undefined;
  useEffect(() => {
    if (!view.current) return;
    view.current.covered = finding ? new Set(finding.covered) : null;
    view.current.span = state.span;
    view.current.marks.op = state.op;
    view.current.redraw();
  }, [finding, state.span, state.op, timeline]);

  useEffect(() => {
    const query = state.query.trim();
    const marked = query.length > 1 ? timeline.matching(query) : null;
    if (view.current) {
      view.current.marks.matches = marked;
      view.current.redraw();
    }
    if (!marked) {
      setMatches(null);
      return;
    }
    let current = true;
    void timeline.loadAll().then(() => {
      if (current) setMatches(timeline.search(marked, mostMatches));
    });
    return () => {
      current = false;
    };
  }, [state.query, timeline]);

  const step = async (direction: number) => {
    if (!matches || matches.length === 0) return;
    const at = event ? event.chunk.start[event.index] : -1;
    const same = matches.findIndex((m) => m.number === event?.number);
    let next = same + direction;
    if (same < 0) next = direction > 0 ? matches.findIndex((m) => m.start > at) : matches.length - 1;
    next = (next + matches.length) % matches.length;
    const found = await timeline.find(matches[next].number);
    if (found) await select(found, true);
  };

  const follow = async () => {
    const to = event && (await timeline.linked(event));
    if (to) await select(to, true);
  };

  const keys = (e: KeyboardEvent) => {
    const v = view.current;
    if (!v || e.ctrlKey || e.metaKey || e.altKey) return;
    const moved = (to: EventAt | null) => to && void select(to, true);
    const actions: Record<string, () => void> = {
      w: () => v.zoom(0.7),
      s: () => v.zoom(1 / 0.7),
      a: () => v.pan(-0.15),
      d: () => v.pan(0.15),
      ArrowLeft: () => moved(v.step(-1, 0)),
      ArrowRight: () => moved(v.step(1, 0)),
      ArrowUp: () => moved(v.step(0, -1)),
      ArrowDown: () => moved(v.step(0, 1)),
      Enter: () => void follow(),
      f: () => (event ? v.showEvent(event, true) : state.span && v.show(...state.span)),
      m: () => event && store.set({ span: [event.chunk.start[event.index], event.chunk.end[event.index]] }),
      0: () => v.showAll(),
      Home: () => v.showAll(),
      '/': () => search.current?.focus(),
      n: () => void step(e.shiftKey ? -1 : 1),
      Escape: () => {
        void select(null, false);
        store.set({ span: null, finding: null, op: null, query: '' });
      },
    };
    const action = actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!action) return;
    e.preventDefault();
    action();
  };

  const left = facts.timeline!.left_out;
  const said = event ? `${shortName(timeline.text(event.chunk.name[event.index]))}, ${time(event.chunk.end[event.index] - event.chunk.start[event.index])}, ${event.track.name}` : '';
  return (
    <section aria-label="Timeline" class="timeline">
      <div class="tools">
        <label>
          Search{' '}
          <input
            ref={search}
            type="search"
            id="search"
            value={state.query}
            placeholder="part of a name"
            onInput={(e) => store.set({ query: e.currentTarget.value })}
            onKeyDown={(e) => {
              if (e.key === 'Enter') void step(e.shiftKey ? -1 : 1);
              if (e.key === 'Escape') canvas.current?.focus();
            }}
          />
        </label>
        {matches && (
          <>
            <span role="status" id="matches">
              {count(matches.length)} {matches.length === 1 ? 'match' : 'matches'}
            </span>
            <button type="button" onClick={() => void step(-1)} aria-label="Last match">
              ‹
            </button>
            <button type="button" onClick={() => void step(1)} aria-label="Next match">
              ›
            </button>
          </>
        )}
        <button type="button" onClick={() => view.current?.zoom(0.6)} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={() => view.current?.zoom(1 / 0.6)} aria-label="Zoom out">
          −
        </button>
        <button type="button" onClick={() => view.current?.showAll()}>
          Whole
        </button>
        {finding && (
          <span class="chip">
            Finding: {finding.title}
            <button type="button" aria-label="Clear the finding" onClick={() => store.set({ finding: null })}>
              ×
            </button>
          </span>
        )}
        {state.op !== null && facts.ops?.[state.op] && (
          <span class="chip">
            Op: {facts.ops[state.op].name}
            <button type="button" aria-label="Clear the op" onClick={() => store.set({ op: null })}>
              ×
            </button>
          </span>
        )}
        <details class="help">
          <summary>Keys</summary>
          <dl class="menu">
            {help.map(([key, what]) => (
              <div key={key}>
                <dt>{key}</dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </details>
      </div>
      <div class="canvas" ref={scroller}>
        <div ref={spacer}>
          <canvas
            ref={canvas}
            tabIndex={0}
            role="application"
            aria-label="Timeline: GPU streams, idle time by cause, critical path, CPU threads. W, A, S, D zoom and move, arrow keys select events. The events in view are in a table below."
            onKeyDown={keys}
          />
        </div>
      </div>
      <p class="sr" role="status" aria-live="polite">
        {said}
      </p>
      {hover && (
        <div class="tip" style={{ left: `${Math.min(hover.x + 14, innerWidth - 340)}px`, top: `${Math.min(hover.y + 14, innerHeight - 110)}px` }}>
          <b>{shortName(timeline.text(hover.event.chunk.name[hover.event.index]))}</b>
          <br />
          {time(hover.event.chunk.end[hover.event.index] - hover.event.chunk.start[hover.event.index])} ·{' '}
          {timeline.categories[hover.event.chunk.category[hover.event.index]]?.label}
          {hover.event.chunk.info[hover.event.index] > 0 && (
            <>
              <br />
              {timeline.text(hover.event.chunk.info[hover.event.index] - 1).slice(0, 160)}
            </>
          )}
        </div>
      )}
      <Legend timeline={timeline} />
      {(left.tracks > 0 || left.events > 0) && (
        <p class="sub">
          Not shown: {count(left.events)} events{left.tracks > 0 && `, ${count(left.tracks)} small streams and threads`}.
        </p>
      )}
      {event && <Details facts={facts} timeline={timeline} event={event} onSelect={(e) => void select(e, true)} />}
      {state.span && <RangeSums facts={facts} timeline={timeline} span={state.span} />}
      <EventsInView timeline={timeline} range={range} onSelect={(e) => void select(e, true)} />
    </section>
  );
}

function Legend({ timeline }: { timeline: Timeline }) {
  const [used, setUsed] = useState<Set<number>>(new Set());
  useEffect(() => {
    const look = () => {
      const found = new Set<number>();
      for (const track of timeline.tracks) {
        for (const row of track.rows) {
          if (row.overview) for (let p = 0; p < 4096; p++) if (row.overview[p] > 0) found.add(row.overview[4096 + p]);
          for (const place of row.places) {
            if (!place.chunk || row.overview) continue;
            for (const c of place.chunk.category) found.add(c);
          }
        }
      }
      setUsed(found);
    };
    look();
    const timer = setTimeout(look, 1500);
    return () => clearTimeout(timer);
  }, [timeline]);
  const seen = new Set<string>();
  return (
    <ul class="colours" aria-label="Colours">
      {timeline.categories.map((c, i) => {
        if (!used.has(i) || seen.has(c.label)) return null;
        seen.add(c.label);
        return (
          <li key={c.key}>
            <span class="swatch" style={{ background: c.colour }} />
            {c.label}
          </li>
        );
      })}
    </ul>
  );
}
