// The tracks of a timeline as the page shows them, and questions about their events.

import { category, type Category } from '../data/categories';
import { BlockSource, firstAfter, groupsOf, Row, type Chunk } from '../data/columns';
import { inflateText } from '../data/decode';
import { safeText, type Facts, type Series } from '../data/facts';

export interface Track {
  kind: 'steps' | 'phases' | 'path' | 'idle' | 'stream' | 'gpu_ranges' | 'python' | 'thread' | 'series';
  group: string;
  name: string;
  thread?: number;
  rows: Row[];
  series?: Series;
  collapsed: boolean;
  notShown: number; // events that are nested too deeply
}

// One event, looked up.
export interface EventAt {
  number: number;
  track: Track;
  row: number;
  chunk: Chunk;
  index: number;
}

export interface RangeSum {
  key: string;
  events: number;
  time: number;
}

export interface SumKeys {
  kind: Track['kind'];
  key: (chunk: Chunk, index: number, track: Track) => string;
}
export interface Match {
  number: number;
  start: number;
}

const mostInView = 786_432; // events of one row
const launchKinds = new Set(['thread', 'python']);

export class Timeline {
  readonly tracks: Track[] = [];
  readonly length: number;
  readonly categories: Category[];
  readonly blocks: BlockSource;
  texts: string[] = [];
  readonly events: number;
  private inFlight = 0; // chunks that views asked for
  private pseudo = 2 ** 40;
  private readonly waiting = new Set<() => void>();

  private constructor(readonly facts: Facts, blocks: string) {
    const t = facts.timeline!;
    this.blocks = new BlockSource(blocks);
    this.length = Math.max(1, t.length_ns);
    this.categories = t.categories.map(category);
    this.addSpans();
    let threads = 0;
    let most = 0;
    for (const track of t.tracks) {
      const rows = track.rows.map((row) => new Row(row, this.blocks));
      const events = rows.reduce((sum, row) => sum + row.events, 0);
      if (launchKinds.has(track.kind)) {
        most = Math.max(most, events);
        if (track.kind === 'thread') threads++;
      }
      const isSmall = launchKinds.has(track.kind) && (threads > 3 || events < most / 200);
      this.tracks.push({
        kind: track.kind,
        group: track.group,
        name: track.name.replace(/^(thread \S+).*: Python$/, 'Python, $1'),
        thread: track.thread,
        rows,
        collapsed: isSmall && rows.length > 1,
        notShown: track.too_deep ?? 0,
      });
    }
    this.addSeries(t.series);
    this.events = this.tracks.reduce((sum, track) => sum + track.rows.reduce((s, row) => s + row.events, 0), 0);
  }

  static async open(facts: Facts, blocks: string): Promise<Timeline> {
    const timeline = new Timeline(facts, blocks);
    const [offset, length] = facts.timeline!.texts;
    const texts = JSON.parse(await inflateText(timeline.blocks.text(offset, length))) as string[];
    timeline.texts = texts.concat(timeline.ownTexts).map((text) => safeText(text));
    for (const chunk of timeline.ownChunks) chunk.name.forEach((name, i) => (chunk.name[i] = name + texts.length));
    return timeline;
  }

  // Texts of rows that the page makes follow those of the trace.
  private readonly ownTexts: string[] = [];
  private readonly ownChunks: Chunk[] = [];

  private ownRow(spans: { name: string; begin: number; end: number; category: string }[]): Row {
    spans.sort((x, y) => x.begin - y.begin);
    const size = spans.length;
    const keys = [...new Set(spans.map((span) => span.category))];
    const names = new Map<string, number>();
    for (const key of keys) if (!this.categories.some((c) => c.key === key)) this.categories.push(category(key));
    const made = {
      size,
      first: this.pseudo,
      start: Float64Array.from(spans, (span) => span.begin),
      end: Float64Array.from(spans, (span) => span.end),
      name: Uint32Array.from(spans, (span) => {
        if (!names.has(span.name)) names.set(span.name, this.ownTexts.push(span.name) - 1);
        return names.get(span.name)!;
      }),
      category: Uint8Array.from(spans, (span) => this.categories.findIndex((c) => c.key === span.category)),
      info: new Uint32Array(size),
      op: new Uint32Array(size),
      link: new Float64Array(size),
      uid: new Float64Array(size),
    };
    // One that begins before the last one ends is shown from there.
    for (let i = 1; i < size; i++) {
      made.start[i] = Math.max(made.start[i], made.end[i - 1]);
      made.end[i] = Math.max(made.end[i], made.start[i]);
    }
    const chunk: Chunk = { ...made, ...groupsOf(made) };
    this.pseudo += size;
    this.ownChunks.push(chunk);
    return Row.of(chunk, this.blocks);
  }

  private addSpans(): void {
    const none = { collapsed: false, notShown: 0 };
    const steps = (this.facts.steps ?? []).map(([name, begin, end], i) => ({
      name,
      begin,
      end,
      category: i % 2 === 0 ? 'step.even' : 'step.odd',
    }));
    if (steps.length > 0) this.tracks.push({ kind: 'steps', group: 'Run', name: 'steps', rows: [this.ownRow(steps)], ...none });
    const phases = [];
    for (const phase of this.facts.phases ?? []) {
      for (let i = 0; i + 1 < phase.spans.length; i += 2)
        phases.push({ name: phase.name, begin: phase.spans[i], end: phase.spans[i + 1], category: 'phase.' + phase.kind });
    }
    if (phases.length > 0) this.tracks.push({ kind: 'phases', group: 'Run', name: 'phases', rows: [this.ownRow(phases)], ...none });
  }

  // After the GPU's tracks, which they explain.
  private addSeries(all: Series[]): void {
    let place = this.tracks.findIndex((track) => launchKinds.has(track.kind));
    if (place < 0) place = this.tracks.length;
    const made = all.map((series): Track => ({
      kind: 'series',
      group: 'Counters',
      // What differs first: "GPU 0 busy (%): SM active" → "SM active (%), GPU 0 busy".
      name: series.name.replace(' (bytes)', '').replace(/^(.*?) (\(\S+\)): (.+)$/, '$3 $2, $1'),
      rows: [],
      series,
      collapsed: false,
      notShown: 0,
    }));
    // Queues, memory and what was sampled first, the state of the machine later, what never changes last; many would push
    // the threads out of sight.
    const rank = ({ name, series }: Track) => (series!.min === series!.max ? 3 : /clock|temperature|power/i.test(name) ? 2 : /launches waiting$/.test(name) ? 0 : 1);
    const first = made.sort((x, y) => rank(x) - rank(y));
    this.tracks.splice(place, 0, ...first.slice(0, 6));
    this.tracks.push(...first.slice(6));
  }

  onLoaded(call: () => void): () => void {
    this.waiting.add(call);
    return () => this.waiting.delete(call);
  }
  private tell(): void {
    for (const call of this.waiting) call();
  }

  // Decodes what a view needs; a row that has an overview waits until few events are in view.
  request(row: Row, begin: number, end: number): void {
    const places = [...row.within(begin, end)];
    if (row.overview && places.reduce((sum, place) => sum + place.events, 0) > mostInView) return;
    for (const place of places) {
      this.blocks.touch(place);
      // A few at a time: each that is decoded draws a frame, which asks for the next.
      if (place.chunk || place.loading || this.inFlight >= 8) continue;
      this.inFlight++;
      void row.load(place).then(() => {
        this.inFlight--;
        this.tell();
      });
    }
  }

  async loadOverviews(): Promise<void> {
    await Promise.all(this.tracks.flatMap((track) => track.rows.map((row) => row.overviewLoad?.())));
    this.tell();
  }

  // All of them where they are not too many: searches and sums are then of everything.
  async loadAll(most = 2_000_000): Promise<boolean> {
    if (this.events > most) return false;
    // One after the other: what a reader asks for meanwhile does not wait for all of them.
    for (const track of this.tracks) {
      for (const row of track.rows) for (const place of row.places) await row.load(place);
      this.tell();
    }
    return true;
  }

  text(id: number): string {
    return this.texts[id] ?? '';
  }

  async find(number: number): Promise<EventAt | null> {
    for (const track of this.tracks) {
      for (let r = 0; r < track.rows.length; r++) {
        if (!track.rows[r].has(number)) continue;
        const found = await track.rows[r].at(number);
        if (found) return { number, track, row: r, ...found };
      }
    }
    return null;
  }

  eventAtTime(track: Track, r: number, at: number): EventAt | null {
    for (const place of track.rows[r]?.within(at, at) ?? []) {
      const chunk = place.chunk;
      if (!chunk) continue;
      const index = firstAfter(chunk, at);
      if (index < chunk.size && chunk.start[index] <= at) return { number: chunk.first + index, track, row: r, chunk, index };
    }
    return null;
  }

  // The calls around an event, the innermost first; of GPU work those around its launch.
  async around(event: EventAt): Promise<EventAt[]> {
    let from = event;
    if (event.track.kind === 'stream') {
      const launch = await this.linked(event);
      if (!launch) return [];
      from = launch;
    }
    const found: EventAt[] = from === event ? [] : [from];
    if (!launchKinds.has(from.track.kind)) return found;
    const at = from.chunk.start[from.index];
    const rows: [Track, number][] = [];
    for (let r = from.row - 1; r >= 0; r--) rows.push([from.track, r]);
    const python = this.tracks.find((t) => t.kind === 'python' && t.thread === from.track.thread);
    if (python && python !== from.track) for (let r = python.rows.length - 1; r >= 0; r--) rows.push([python, r]);
    await Promise.all(rows.flatMap(([track, r]) => [...track.rows[r].within(at, at)].map((place) => track.rows[r].load(place))));
    for (const [track, r] of rows) {
      const e = this.eventAtTime(track, r, at);
      if (e) found.push(e);
    }
    return found;
  }

  async linked(event: EventAt): Promise<EventAt | null> {
    const link = event.chunk.link[event.index];
    return link > 0 ? this.find(link - 1) : null;
  }

  // Every chunk of these tracks that has events in a range, decoded when its turn comes: a long trace does not stay
  // decoded as a whole. `visit` ends the walk by returning false.
  private async walk(begin: number, end: number, wanted: (track: Track) => boolean, visit: (chunk: Chunk, track: Track) => boolean): Promise<boolean> {
    for (const track of this.tracks) {
      if (!wanted(track)) continue;
      for (const row of track.rows) {
        for (const place of row.within(begin, end)) {
          if (!visit(place.chunk ?? (await row.load(place)), track)) return false;
        }
      }
    }
    return true;
  }

  // Sums over the parts of events that lie in a range; null: no longer wanted.
  async sums(begin: number, end: number, keys: SumKeys[], isWanted: () => boolean): Promise<RangeSum[][] | null> {
    const all = keys.map(() => new Map<string, RangeSum>());
    const done = await this.walk(begin, end, (track) => keys.some((k) => k.kind === track.kind), (chunk, track) => {
      keys.forEach(({ kind, key }, k) => {
        if (kind !== track.kind) return;
        for (let i = firstAfter(chunk, begin); i < chunk.size && chunk.start[i] < end; i++) {
          const name = key(chunk, i, track);
          let sum = all[k].get(name);
          if (!sum) all[k].set(name, (sum = { key: name, events: 0, time: 0 }));
          sum.events++;
          sum.time += Math.min(end, chunk.end[i]) - Math.max(begin, chunk.start[i]);
        }
      });
      return isWanted();
    });
    return done ? all.map((sums) => [...sums.values()].sort((x, y) => y.time - x.time)) : null;
  }

  // Events whose name matches, in the order of time; at most so many. null: no longer wanted.
  async search(matches: Uint8Array, most: number, isWanted: () => boolean): Promise<Match[] | null> {
    const found: Match[] = [];
    await this.walk(-Infinity, Infinity, () => true, (chunk) => {
      for (let i = 0; i < chunk.size && found.length < most; i++)
        if (matches[chunk.name[i]] === 1) found.push({ number: chunk.first + i, start: chunk.start[i] });
      return found.length < most && isWanted();
    });
    return isWanted() ? found.sort((x, y) => x.start - y.start) : null;
  }

  matching(query: string): Uint8Array {
    const words = query.toLowerCase();
    return Uint8Array.from(this.texts, (text) => (text.toLowerCase().includes(words) ? 1 : 0));
  }
}
