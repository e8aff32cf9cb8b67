// The timeline with its search, selection and sums.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Facts } from '../data/facts';
import { count, shortName, time } from '../data/format';
import { store, useStore } from '../store';
import { TimelineCanvas, type Hover } from '../timeline/canvas';
import type { EventAt, Match, Timeline, Track } from '../timeline/model';
import { Details } from './details';
import { EventsInView, RangeSums } from './range';

const mostMatches = 200_000;

interface Tip extends Hover {
  x: number;
  y: number;
}

// The part that was analyzed, with some of what is around it; the whole where that is most of it.
function firstRange(facts: Facts, timeline: Timeline): [number, number] {
  const [begin, end] = facts.wall ?? [0, timeline.length];
  const margin = 0.02 * (end - begin);
  return end > begin && end - begin < 0.8 * timeline.length ? [begin - margin, end + margin] : [0, timeline.length];
}

// Keys that mean something to the element that has the focus.
function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches('input, select, textarea') || target.closest('dialog') !== null);
}

export function TimelineView({ facts, timeline }: { facts: Facts; timeline: Timeline }) {
  const state = useStore();
  const scroller = useRef<HTMLDivElement>(null);
  const spacer = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const view = useRef<TimelineCanvas | null>(null);
  const [event, setEvent] = useState<EventAt | null>(null);
  const [hover, setHover] = useState<Tip | null>(null);
  const [matches, setMatches] = useState<Match[] | null>(null);
  const [range, setRange] = useState<[number, number]>(state.range ?? firstRange(facts, timeline));
  const shownEvent = useRef<number | null>(null);

  useLayoutEffect(() => {
    const made = new TimelineCanvas(scroller.current!, spacer.current!, canvas.current!, timeline, {
      viewChanged: (begin, end) => {
        setRange([begin, end]);
        store.set({ range: [begin, end] });
      },
      selected: (e) => void select(e, false),
      spanSelected: (begin, end) => store.set({ span: [begin, end] }),
      hovered: (found, x, y) => setHover(found && { ...found, x, y }),
    });
    view.current = made;
    (window as unknown as { fathomTimeline: TimelineCanvas }).fathomTimeline = made;
    made.setView(...(state.range ?? firstRange(facts, timeline)), false);
    return () => made.destroy();
  }, [timeline]);

  const select = async (e: EventAt | null, show: boolean, zoom = false) => {
    shownEvent.current = e?.number ?? null;
    setEvent(e);
    view.current?.select(e, null);
    if (e && show) view.current?.showEvent(e, zoom);
    store.set({ event: e?.number ?? null });
    // Its launch may lie in a part that is not decoded yet: the details do not wait for the arrow.
    const partner = e && (await timeline.linked(e));
    if (partner && shownEvent.current === e.number) view.current?.select(e, partner);
  };

  // A selection that came from elsewhere: a link, a finding, the way back. Before the next paint, not after it.
  useLayoutEffect(() => {
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
    setMatches(null);
    void timeline.search(marked, mostMatches, () => current).then((found) => current && setMatches(found));
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
    if (!v || e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || isTyping(e.target)) return;
    const moved = (to: Promise<EventAt | null>) => void to.then((found) => found && select(found, true));
    const actions: Record<string, () => void> = {
      w: () => v.zoom(0.7),
      s: () => v.zoom(1 / 0.7),
      a: () => v.pan(-0.15),
      d: () => v.pan(0.15),
      f: () => (event ? v.showEvent(event, true) : state.span && v.show(...state.span)),
      m: () => event && store.set({ span: [event.chunk.start[event.index], event.chunk.end[event.index]] }),
      0: () => v.showAll(),
      '/': () => search.current?.focus(),
      n: () => void step(e.shiftKey ? -1 : 1),
      Escape: () => {
        void select(null, false);
        store.set({ span: null, finding: null, op: null, query: '' });
      },
    };
    const onCanvas: Record<string, () => void> = {
      ArrowLeft: () => moved(v.step(-1, 0)),
      ArrowRight: () => moved(v.step(1, 0)),
      ArrowUp: () => moved(v.step(0, -1)),
      ArrowDown: () => moved(v.step(0, 1)),
      Enter: () => void follow(),
      Home: () => v.showAll(),
    };
    const key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
    const action = actions[key] ?? (e.target === canvas.current || e.target === document.body ? onCanvas[key] : undefined);
    if (!action) return;
    e.preventDefault();
    action();
  };
  // Wherever the focus is, as in other timelines; arrows and Enter belong to what has it.
  useLayoutEffect(() => {
    addEventListener('keydown', keys);
    return () => removeEventListener('keydown', keys);
  });

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
              if (e.key === 'Escape') {
                store.set({ query: '' });
                canvas.current?.focus();
              }
            }}
          />
        </label>
        {!matches && state.query.trim().length > 1 && <span role="status">Searching …</span>}
        {matches && (
          <>
            <span role="status" id="matches">
              {matches.length === mostMatches ? 'more than ' : ''}
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
            <span title={finding.title}>Finding: {finding.title}</span>
            <button type="button" aria-label="Clear the finding" onClick={() => store.set({ finding: null })}>
              ×
            </button>
          </span>
        )}
        {state.op !== null && facts.ops?.[state.op] && (
          <span class="chip">
            <span>
              Op: {facts.ops[state.op].name} {facts.ops[state.op].shapes}
            </span>
            <button type="button" aria-label="Clear the op" onClick={() => store.set({ op: null })}>
              ×
            </button>
          </span>
        )}
        <Groups timeline={timeline} view={view} />
      </div>
      <div class="canvas" ref={scroller}>
        <div ref={spacer}>
          <canvas
            ref={canvas}
            tabIndex={0}
            role="application"
            aria-label="Timeline: GPU streams, idle time by cause, critical path, CPU threads. W, A, S, D zoom and move, arrow keys select events, question mark lists the keys. The events in view are in a table below."
          />
        </div>
      </div>
      <p class="sr" role="status" aria-live="polite">
        {said}
      </p>
      {hover && <Tooltip timeline={timeline} tip={hover} />}
      {event && <Details facts={facts} timeline={timeline} event={event} onSelect={(e) => void select(e, true)} />}
      {state.span && <RangeSums facts={facts} timeline={timeline} span={state.span} />}
      <Legend timeline={timeline} />
      {(left.tracks > 0 || left.events > 0) && (
        <p class="sub">
          Not shown: {count(left.events)} events{left.tracks > 0 && `, ${count(left.tracks)} small streams and threads`}.
        </p>
      )}
      <EventsInView timeline={timeline} range={range} onSelect={(e) => void select(e, true)} />
    </section>
  );
}

function Tooltip({ timeline, tip }: { timeline: Timeline; tip: Tip }) {
  const place = { left: `${Math.max(4, Math.min(tip.x + 14, innerWidth - 340))}px`, top: `${Math.min(tip.y + 14, innerHeight - 110)}px` };
  if (!tip.event)
    return (
      <div class="tip" style={place}>
        {tip.words}
      </div>
    );
  const { chunk, index } = tip.event;
  return (
    <div class="tip" style={place}>
      <b>{shortName(timeline.text(chunk.name[index]))}</b>
      <br />
      {time(chunk.end[index] - chunk.start[index])} · {timeline.categories[chunk.category[index]]?.label}
      {chunk.info[index] > 0 && (
        <>
          <br />
          {timeline.text(chunk.info[index] - 1).slice(0, 160)}
        </>
      )}
    </div>
  );
}

// Which groups of tracks are shown.
function Groups({ timeline, view }: { timeline: Timeline; view: { current: TimelineCanvas | null } }) {
  const [, again] = useState(0);
  const groups = [...new Set(timeline.tracks.map((track) => track.group))];
  return (
    <details class="columns" onToggle={() => again((n) => n + 1)}>
      <summary>Tracks</summary>
      <div class="menu">
        {groups.map((group) => (
          <label key={group}>
            <input
              type="checkbox"
              checked={!view.current?.hidden.has(group)}
              onChange={() => {
                view.current?.toggleGroup(group);
                again((n) => n + 1);
              }}
            />{' '}
            {group}
          </label>
        ))}
      </div>
    </details>
  );
}

const legendGroups: [string, Track['kind'][]][] = [
  ['Run', ['steps', 'phases']],
  ['Critical path', ['path']],
  ['GPU idle', ['idle']],
  ['GPU', ['stream', 'gpu_ranges']],
  ['CPU', ['thread', 'python']],
];

// By kind of track: the same colour means other things in other tracks.
function Legend({ timeline }: { timeline: Timeline }) {
  const [used, setUsed] = useState<Set<number>[]>([]);
  useEffect(() => {
    const look = () =>
      setUsed(
        legendGroups.map(([, kinds]) => {
          const found = new Set<number>();
          for (const track of timeline.tracks) {
            if (!kinds.includes(track.kind)) continue;
            for (const row of track.rows) {
              if (row.overview) for (let p = 0; p < 4096; p++) if (row.overview[p] > 0) found.add(row.overview[4096 + p]);
              for (const place of row.places) {
                if (!place.chunk || row.overview) continue;
                for (const c of place.chunk.category) found.add(c);
              }
            }
          }
          return found;
        }),
      );
    look();
    let timer = 0;
    const unwatch = timeline.onLoaded(() => {
      clearTimeout(timer);
      timer = window.setTimeout(look, 200);
    });
    return () => {
      unwatch();
      clearTimeout(timer);
    };
  }, [timeline]);
  return (
    <dl class="colours" aria-label="Colours">
      {legendGroups.map(([name], g) => {
        const seen = new Set<string>();
        const shown = timeline.categories.filter((c, i) => used[g]?.has(i) && !seen.has(c.label) && seen.add(c.label));
        return (
          shown.length > 0 && (
            <div key={name}>
              <dt>{name}</dt>
              {shown.map((c) => (
                <dd key={c.key}>
                  <span class="swatch" style={{ background: c.colour }} />
                  {c.label.replace(/^idle: /, '')}
                </dd>
              ))}
            </div>
          )
        );
      })}
    </dl>
  );
}
