// The timeline's canvas: what is where, frames, pointer and keys. It owns no state of the page but the view and the
// selection, which it hands out.

import { fitted, moment, time } from '../data/format';
import { drawSeries, RowPainter, seriesHeight, sizes, ticks, valueAt, type Colours, type Marks, type View } from './draw';
import type { EventAt, Timeline, Track } from './model';

export interface Handlers {
  viewChanged(begin: number, end: number): void;
  selected(event: EventAt | null): void;
  spanSelected(begin: number, end: number): void;
  hovered(hover: Hover | null, x: number, y: number): void;
}
// What is under the pointer: an event, or words about a track or a counter.
export interface Hover {
  event: EventAt | null;
  words: string;
}

interface Place {
  track: Track;
  y: number;
  height: number;
  header: boolean; // the name of its group is above it
}

const shortest = 50; // ns in view

export class TimelineCanvas {
  private begin = 0;
  private end: number;
  private places: Place[] = [];
  private height = 0;
  private frame = 0;
  selection: EventAt | null = null;
  span: [number, number] | null = null;
  partner: EventAt | null = null; // the other end of the selection's link
  covered: Set<number> | null = null; // events of a finding
  marks: Marks = { matches: null, op: null };
  private hover: Hover | null = null;
  readonly hidden = new Set<string>(); // groups of which only the name is shown
  private colours!: Colours;
  private drag: { x: number; y: number; scroll: number; begin: number; end: number; mode: 'pan' | 'span'; moved: boolean } | null = null;
  private readonly context: CanvasRenderingContext2D;
  private readonly stop: () => void;
  frames: number[] = []; // how long the last ones took, ms
  drawn = 0; // events and bars that the last one looked at

  constructor(
    private readonly scroller: HTMLElement,
    private readonly spacer: HTMLElement,
    private readonly canvas: HTMLCanvasElement,
    private readonly timeline: Timeline,
    private readonly handlers: Handlers,
  ) {
    this.end = timeline.length;
    this.context = canvas.getContext('2d', { alpha: false })!;
    this.readColours();
    this.layout();
    const observer = new ResizeObserver(() => this.redraw());
    observer.observe(scroller);
    const unwatch = timeline.onLoaded(() => this.redraw());
    const theme = matchMedia('(prefers-color-scheme: dark)');
    const recolour = () => {
      this.readColours();
      this.redraw();
    };
    theme.addEventListener('change', recolour);
    addEventListener('fathom-theme', recolour);
    scroller.addEventListener('scroll', () => this.redraw());
    canvas.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
    canvas.addEventListener('pointerdown', (e) => this.down(e));
    canvas.addEventListener('pointermove', (e) => this.move(e));
    canvas.addEventListener('pointerup', (e) => this.up(e));
    canvas.addEventListener('pointerleave', () => this.setHover(null, 0, 0));
    this.stop = () => {
      observer.disconnect();
      unwatch();
      theme.removeEventListener('change', recolour);
      removeEventListener('fathom-theme', recolour);
      cancelAnimationFrame(this.frame);
    };
  }
  destroy(): void {
    this.stop();
  }

  private readColours(): void {
    const style = getComputedStyle(document.documentElement);
    const of = (name: string) => style.getPropertyValue(name).trim();
    this.colours = { ink: of('--ink'), faint: of('--faint'), back: of('--page'), line: of('--line'), series: of('--series') };
  }

  private layout(): void {
    let y = sizes.ruler + 3;
    let group = '';
    this.places = [];
    for (const track of this.timeline.tracks) {
      const header = track.group !== group;
      if (header) y += sizes.header;
      group = track.group;
      if (this.hidden.has(group)) {
        if (header) this.places.push({ track, y, height: 0, header });
        continue;
      }
      const rows = track.collapsed ? 1 : track.rows.length;
      const height = track.series ? seriesHeight(track.series) : sizes.row + (rows - 1) * sizes.nested;
      this.places.push({ track, y, height, header });
      y += height + sizes.gap;
    }
    this.height = y + 12;
    this.spacer.style.height = `${this.height}px`;
  }

  // For the names; a third of a narrow screen.
  private get gutter(): number {
    return Math.min(170, Math.round(this.scroller.clientWidth / 3));
  }
  get view(): View {
    const width = Math.max(50, this.scroller.clientWidth - this.gutter - 8);
    return { begin: this.begin, end: this.end, left: this.gutter, width };
  }

  setView(begin: number, end: number, tell = true): void {
    const length = Math.min(Math.max(end - begin, shortest), this.timeline.length * 1.02);
    const middle = (begin + end) / 2;
    const margin = this.timeline.length * 0.01;
    this.begin = Math.min(Math.max(middle - length / 2, -margin), this.timeline.length + margin - length);
    this.end = this.begin + length;
    if (tell) this.handlers.viewChanged(this.begin, this.end);
    this.redraw();
  }
  zoom(factor: number, at?: number): void {
    const place = at ?? (this.begin + this.end) / 2;
    this.setView(place - (place - this.begin) * factor, place + (this.end - place) * factor);
  }
  pan(share: number): void {
    const by = (this.end - this.begin) * share;
    this.setView(this.begin + by, this.end + by);
  }
  showAll(): void {
    this.setView(0, this.timeline.length);
  }
  // With some of what is around it.
  show(begin: number, end: number): void {
    const margin = Math.max((end - begin) * 1.5, 2000);
    this.setView(begin - margin, end + margin);
  }
  showEvent(event: EventAt, zoom: boolean): void {
    const begin = event.chunk.start[event.index];
    const end = event.chunk.end[event.index];
    const length = this.end - this.begin;
    const isVisible = begin >= this.begin && end <= this.end && end - begin > length / 400;
    if (zoom || !isVisible) {
      if (zoom || end - begin > length || end - begin < length / 400) this.show(begin, end);
      else this.setView(begin - length / 2, begin + length / 2);
    }
    this.scrollTo(event);
  }
  private scrollTo(event: EventAt): void {
    if (this.hidden.has(event.track.group)) this.toggleGroup(event.track.group);
    const place = this.places.find((p) => p.track === event.track);
    if (!place) return;
    if (event.row > 0 && event.track.collapsed) this.toggle(event.track);
    const y = this.rowTop(place, event.row);
    const shown = this.scroller.clientHeight;
    if (y < this.scroller.scrollTop + sizes.ruler + 20 || y > this.scroller.scrollTop + shown - 30)
      this.scroller.scrollTop = Math.max(0, y - shown / 2);
  }
  toggleGroup(group: string): void {
    if (!this.hidden.delete(group)) this.hidden.add(group);
    this.layout();
    this.redraw();
  }
  toggle(track: Track): void {
    if (track.rows.length < 2) return;
    track.collapsed = !track.collapsed;
    this.layout();
    this.redraw();
  }

  select(event: EventAt | null, partner: EventAt | null = null): void {
    this.selection = event;
    this.partner = partner;
    this.redraw();
  }

  redraw(): void {
    if (this.frame !== 0) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const before = performance.now();
      this.draw();
      this.frames.push(performance.now() - before);
      if (this.frames.length > 600) this.frames.shift();
    });
  }

  private rowTop(place: Place, row: number): number {
    return row === 0 ? place.y : place.y + sizes.row + (row - 1) * sizes.nested;
  }
  private x(t: number): number {
    const v = this.view;
    return v.left + ((t - this.begin) / (this.end - this.begin)) * v.width;
  }
  private timeAt(x: number): number {
    const v = this.view;
    return this.begin + ((x - v.left) / v.width) * (this.end - this.begin);
  }

  private draw(): void {
    const width = this.scroller.clientWidth;
    const height = this.scroller.clientHeight;
    const ratio = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    const c = this.context;
    const view = this.view;
    const scroll = this.scroller.scrollTop;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = this.colours.back;
    c.fillRect(0, 0, width, height);
    this.drawGrid(view, height);
    c.save();
    c.beginPath();
    c.rect(view.left, sizes.ruler, view.width + 8, height);
    c.clip();
    c.translate(0, -scroll);
    const painter = new RowPainter(c, this.timeline, view, this.marks);
    const visible = this.places.filter((p) => p.y + p.height > scroll && p.y - sizes.header < scroll + height);
    for (const place of visible) {
      if (place.height === 0) continue;
      if (place.track.series) {
        drawSeries(c, place.track, view, place.y, this.colours);
        continue;
      }
      const rows = place.track.collapsed ? 1 : place.track.rows.length;
      for (let r = 0; r < rows; r++) {
        const y = this.rowTop(place, r);
        if (y + sizes.row < scroll || y > scroll + height) continue;
        painter.row(place.track.rows[r], y, (r === 0 ? sizes.row : sizes.nested) - 1);
      }
    }
    painter.finish();
    this.drawn = painter.drawn;
    this.drawMarks();
    c.restore();
    this.drawNames(visible, scroll, height);
    this.drawRuler(view, width);
    this.drawSpan(view, height);
  }

  private drawGrid(view: View, height: number): void {
    const c = this.context;
    c.strokeStyle = this.colours.line;
    c.lineWidth = 1;
    c.beginPath();
    for (const t of ticks(this.begin, this.end, view.width / 110)) {
      const x = Math.round(this.x(t)) + 0.5;
      c.moveTo(x, sizes.ruler);
      c.lineTo(x, height);
    }
    c.stroke();
  }

  private drawRuler(view: View, width: number): void {
    const c = this.context;
    c.fillStyle = this.colours.back;
    c.fillRect(0, 0, width, sizes.ruler);
    c.fillStyle = this.colours.faint;
    c.font = '11px system-ui, sans-serif';
    c.textBaseline = 'middle';
    c.textAlign = 'left';
    const marks = ticks(this.begin, this.end, view.width / 110);
    const step = marks.length > 1 ? marks[1] - marks[0] : this.end - this.begin;
    for (const t of marks) {
      const words = moment(t, step, this.end);
      if (this.x(t) + 3 + c.measureText(words).width < width) c.fillText(words, this.x(t) + 3, sizes.ruler / 2);
    }
    c.fillText(time(this.end - this.begin) + ' in view', 8, sizes.ruler / 2);
    c.strokeStyle = this.colours.line;
    c.beginPath();
    c.moveTo(0, sizes.ruler - 0.5);
    c.lineTo(width, sizes.ruler - 0.5);
    c.stroke();
  }

  private drawNames(visible: Place[], scroll: number, height: number): void {
    const c = this.context;
    c.fillStyle = this.colours.back;
    c.fillRect(0, sizes.ruler, this.gutter - 4, height);
    c.textBaseline = 'middle';
    c.textAlign = 'left';
    for (const place of visible) {
      const y = place.y - scroll;
      if (place.header) {
        c.font = 'bold 11px system-ui, sans-serif';
        c.fillStyle = this.colours.ink;
        const isHidden = this.hidden.has(place.track.group);
        c.fillText(fitted(c, (isHidden ? '▸ ' : '') + place.track.group, this.gutter - 18), 8, y - sizes.header / 2);
        if (isHidden) continue;
      }
      c.font = '11px system-ui, sans-serif';
      c.fillStyle = this.colours.faint;
      const mark = place.track.rows.length > 1 ? (place.track.collapsed ? '▸ ' : '▾ ') : '';
      c.fillText(fitted(c, mark + place.track.name, this.gutter - 18), 8, y + sizes.row / 2);
    }
  }

  private outline(event: EventAt, colour: string, width: number): { x: number; y: number; w: number; h: number } | null {
    const place = this.places.find((p) => p.track === event.track);
    if (!place || place.height === 0 || (place.track.collapsed && event.row > 0)) return null;
    const x = this.x(event.chunk.start[event.index]);
    const w = Math.max(2, this.x(event.chunk.end[event.index]) - x);
    const y = this.rowTop(place, event.row);
    const h = (event.row === 0 ? sizes.row : sizes.nested) - 1;
    this.context.strokeStyle = colour;
    this.context.lineWidth = width;
    this.context.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
    return { x, y, w, h };
  }

  private drawMarks(): void {
    const c = this.context;
    if (this.covered) this.drawCovered();
    if (this.hover?.event) this.outline(this.hover.event, this.colours.faint, 1);
    const from = this.selection && this.outline(this.selection, this.colours.ink, 2);
    const to = this.partner && this.outline(this.partner, this.colours.ink, 2);
    if (!from || !to) return;
    const isForward = this.selection!.chunk.start[this.selection!.index] <= this.partner!.chunk.start[this.partner!.index];
    const [a, b] = isForward ? [from, to] : [to, from];
    const [ax, ay, bx, by] = [a.x + Math.min(a.w, 4), a.y + a.h / 2, b.x, b.y + b.h / 2];
    c.beginPath();
    c.moveTo(ax, ay);
    const bend = Math.max(20, Math.abs(bx - ax) / 2);
    c.bezierCurveTo(ax + bend, ay, bx - bend, by, bx, by);
    c.lineWidth = 1.5;
    c.stroke();
    c.beginPath();
    c.moveTo(bx, by);
    c.lineTo(bx - 7, by - 4);
    c.lineTo(bx - 7, by + 4);
    c.closePath();
    c.fillStyle = this.colours.ink;
    c.fill();
  }

  // A line under each event of the finding that is decoded and in view.
  private drawCovered(): void {
    const c = this.context;
    c.fillStyle = this.colours.ink;
    for (const place of this.places) {
      if (place.track.series || place.height === 0) continue;
      const rows = place.track.collapsed ? 1 : place.track.rows.length;
      for (let r = 0; r < rows; r++) {
        const row = place.track.rows[r];
        if (row.places.length === 0 || !this.coversRow(row.first, row.events)) continue;
        const y = this.rowTop(place, r) + (r === 0 ? sizes.row : sizes.nested) - 3;
        let last = -1;
        for (const number of this.coveredIn(row.first, row.events)) {
          const found = row.placeOf(number);
          if (!found?.chunk) continue;
          const i = number - found.first;
          const x = this.x(found.chunk.start[i]);
          const w = Math.max(2, this.x(found.chunk.end[i]) - x);
          if (x > this.view.left + this.view.width || x + w < this.view.left || x + w <= last) continue;
          c.fillRect(x, y, w, 3);
          last = x + w;
        }
      }
    }
  }
  private sorted: { of: Set<number>; numbers: number[] } | null = null;
  private coveredNumbers(): number[] {
    if (this.sorted?.of !== this.covered) this.sorted = { of: this.covered!, numbers: [...this.covered!].sort((x, y) => x - y) };
    return this.sorted!.numbers;
  }
  private coversRow(first: number, events: number): boolean {
    return this.coveredNumbers().some((n) => n >= first && n < first + events);
  }
  private coveredIn(first: number, events: number): number[] {
    return this.coveredNumbers().filter((n) => n >= first && n < first + events);
  }

  private drawSpan(view: View, height: number): void {
    if (!this.span) return;
    const c = this.context;
    const from = Math.max(view.left, this.x(this.span[0]));
    const to = Math.min(view.left + view.width, this.x(this.span[1]));
    if (to <= from) return;
    c.fillStyle = this.colours.ink;
    c.globalAlpha = 0.12;
    c.fillRect(from, 0, to - from, height);
    c.globalAlpha = 1;
    c.textAlign = 'center';
    c.font = 'bold 11px system-ui, sans-serif';
    c.fillText(time(this.span[1] - this.span[0]), (from + to) / 2, sizes.ruler - 7);
  }

  // Which event is under a point of the canvas; also the track alone, right of its name or on it, or the group of a name.
  private under(x: number, y: number): { track: Track | null; group: string | null; event: EventAt | null } {
    const at = y + this.scroller.scrollTop;
    const none = { track: null, group: null, event: null };
    if (y < sizes.ruler) return none;
    const named = this.places.find((p) => p.header && at >= p.y - sizes.header && at < p.y);
    if (named && x < this.gutter) return { ...none, group: named.track.group };
    const place = this.places.find((p) => at >= p.y && at < p.y + p.height);
    if (!place) return none;
    const found = { track: place.track, group: null, event: null };
    if (x < this.gutter || place.track.series) return found;
    const row = at < place.y + sizes.row ? 0 : 1 + Math.floor((at - place.y - sizes.row) / sizes.nested);
    const near = (this.end - this.begin) / this.view.width;
    const t = this.timeAt(x);
    // A narrow event is found a pixel beside it too.
    for (const offset of [0, near, -near, 2 * near, -2 * near]) {
      const event = this.timeline.eventAtTime(place.track, row, t + offset);
      if (event) return { ...found, event };
    }
    return found;
  }

  private hoverAt(x: number, y: number): Hover | null {
    const { track, group, event } = this.under(x, y);
    if (event) return { event, words: '' };
    if (group) return { event, words: `${group}: click to ${this.hidden.has(group) ? 'show' : 'hide'} its tracks` };
    if (!track) return null;
    if (x < this.gutter) return { event, words: `${track.group}, ${track.name}${track.rows.length > 1 ? `: ${track.rows.length} rows, click to ${track.collapsed ? 'show' : 'hide'} them` : ''}` };
    const value = track.series && valueAt(track.series, this.timeAt(x));
    return value ? { event, words: `${track.name}: ${value} at ${time(this.timeAt(x))}` } : null;
  }

  private setHover(hover: Hover | null, x: number, y: number): void {
    if (hover?.event?.number === this.hover?.event?.number && hover?.words === this.hover?.words) return;
    this.hover = hover;
    this.handlers.hovered(hover, x, y);
    this.redraw();
  }

  private wheel(e: WheelEvent): void {
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      this.zoom(Math.exp(Math.min(Math.max(e.deltaY, -200), 200) * 0.004), this.timeAt(e.offsetX));
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      this.pan((e.deltaX || e.deltaY) / this.view.width);
    }
  }
  private down(e: PointerEvent): void {
    if (e.button !== 0) return;
    const mode = e.shiftKey || e.offsetY < sizes.ruler ? 'span' : 'pan';
    this.drag = { x: e.offsetX, y: e.offsetY, scroll: this.scroller.scrollTop, begin: this.begin, end: this.end, mode, moved: false };
    this.canvas.setPointerCapture(e.pointerId);
  }
  private move(e: PointerEvent): void {
    const d = this.drag;
    if (!d) {
      this.setHover(this.hoverAt(e.offsetX, e.offsetY), e.clientX, e.clientY);
      return;
    }
    if (Math.abs(e.offsetX - d.x) + Math.abs(e.offsetY - d.y) > 3) d.moved = true;
    if (!d.moved) return;
    if (d.mode === 'pan') {
      const by = ((d.x - e.offsetX) / this.view.width) * (d.end - d.begin);
      this.scroller.scrollTop = d.scroll + (d.y - e.offsetY);
      this.setView(d.begin + by, d.end + by);
    } else {
      const [a, b] = [this.timeAt(d.x), this.timeAt(e.offsetX)];
      this.span = [Math.max(0, Math.min(a, b)), Math.min(this.timeline.length, Math.max(a, b))];
      this.redraw();
    }
  }
  private up(e: PointerEvent): void {
    const d = this.drag;
    this.drag = null;
    if (!d) return;
    if (d.moved) {
      if (d.mode === 'span' && this.span && this.span[1] > this.span[0]) this.handlers.spanSelected(...this.span);
      return;
    }
    const { track, group, event } = this.under(e.offsetX, e.offsetY);
    if (group) this.toggleGroup(group);
    else if (e.offsetX < this.gutter && track) this.toggle(track);
    else this.handlers.selected(event);
  }

  // The neighbour of the selection: along its row, or in the row above or below.
  async step(along: number, across: number): Promise<EventAt | null> {
    const from = this.selection ?? this.firstVisible();
    if (!from || !this.selection) return from;
    const row = from.track.rows[from.row];
    if (along !== 0) {
      const number = from.number + along;
      const found = await row.at(number);
      return found ? { ...from, number, ...found } : from;
    }
    const middle = (from.chunk.start[from.index] + from.chunk.end[from.index]) / 2;
    const rows = this.places
      .filter((p) => !p.track.series && p.height > 0)
      .flatMap((p) => (p.track.collapsed ? p.track.rows.slice(0, 1) : p.track.rows).map((_, r) => ({ track: p.track, r })));
    let at = rows.findIndex((r) => r.track === from.track && r.r === from.row);
    for (at += across; at >= 0 && at < rows.length; at += across) {
      const found = this.timeline.eventAtTime(rows[at].track, rows[at].r, middle);
      if (found) return found;
    }
    return from;
  }
  private firstVisible(): EventAt | null {
    const middle = (this.begin + this.end) / 2;
    for (const place of this.places.filter((p) => p.height > 0)) {
      for (let r = 0; r < place.track.rows.length; r++) {
        const found = this.timeline.eventAtTime(place.track, r, middle);
        if (found) return found;
      }
    }
    return null;
  }
}
