// Draws rows of events on a canvas. What a frame costs depends on its pixels, not on the events: many of them in one
// pixel are drawn as one bar, whose height is how full the pixel is.

import { inkOn } from '../data/categories';
import { firstAfter, groupSize, Row, type Chunk } from '../data/columns';
import type { Series } from '../data/facts';
import { scaled, shortName } from '../data/format';
import type { Timeline, Track } from './model';

export interface View {
  begin: number;
  end: number;
  left: number; // of the tracks, in pixels
  width: number;
}
export interface Colours {
  ink: string;
  faint: string;
  back: string;
  line: string;
  series: string;
}

export const sizes = { ruler: 26, row: 18, nested: 14, series: 44, gap: 6, header: 16 };

const levels = 6; // heights of bars that stand for several events
const labelFrom = 26; // pixels: narrower events have no label

class Bars {
  private readonly rects: number[][] = [];
  add(category: number, x: number, y: number, width: number, height: number): void {
    (this.rects[category] ??= []).push(x, y, width, height);
  }
  fill(context: CanvasRenderingContext2D, colours: string[]): void {
    for (let c = 0; c < this.rects.length; c++) {
      const list = this.rects[c];
      if (!list) continue;
      context.fillStyle = colours[c] ?? '#606973';
      for (let i = 0; i < list.length; i += 4) context.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]);
    }
  }
}

// Pixels of one row, from left to right.
class PixelRun {
  private column = -1;
  private busy = 0;
  private category = 0;
  private most = 0;
  private runStart = -1;
  private runEnd = -1;
  private runLevel = 0;
  private runCategory = -1;

  constructor(
    private readonly bars: Bars,
    private readonly y: number,
    private readonly height: number,
  ) {}

  // `share` of a pixel that is filled.
  add(x: number, share: number, category: number): void {
    const column = Math.floor(x);
    if (column !== this.column) {
      this.close();
      this.column = column;
    }
    this.busy += share;
    if (share > this.most) {
      this.most = share;
      this.category = category;
    }
  }
  private close(): void {
    if (this.column < 0) return;
    const level = Math.max(1, Math.ceil(Math.min(1, this.busy) * levels));
    if (this.column !== this.runEnd || level !== this.runLevel || this.category !== this.runCategory) {
      this.flush();
      this.runStart = this.column;
      this.runLevel = level;
      this.runCategory = this.category;
    }
    this.runEnd = this.column + 1;
    this.busy = this.most = 0;
    this.column = -1;
  }
  private flush(): void {
    if (this.runStart < 0) return;
    const height = Math.max(2, (this.height * this.runLevel) / levels);
    this.bars.add(this.runCategory, this.runStart, this.y + this.height - height, this.runEnd - this.runStart, height);
    this.runStart = -1;
  }
  finish(): void {
    this.close();
    this.flush();
  }
}

export interface Marks {
  matches: Uint8Array | null; // by text: others are drawn faintly
  op: number | null; // likewise: events of other ops
}

export class RowPainter {
  private bars = new Bars();
  private faintBars = new Bars();
  private labels: [string, number, number, number, string][] = [];
  drawn = 0;

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly timeline: Timeline,
    private readonly view: View,
    private readonly marks: Marks,
  ) {}

  private x(time: number): number {
    return this.view.left + ((time - this.view.begin) / (this.view.end - this.view.begin)) * this.view.width;
  }

  row(row: Row, y: number, height: number): void {
    const { begin, end, width } = this.view;
    const parts = (Row.parts * (end - begin)) / this.timeline.length;
    const isFar = row.overview !== null && parts >= width / 2;
    if (!isFar) this.timeline.request(row, begin, end);
    const isMarked = this.marks.matches !== null || this.marks.op !== null;
    const isWhole = [...row.within(begin, end)].every((place) => place.chunk);
    if (row.overview && (isFar || !isWhole) && !(isMarked && isWhole)) {
      this.overview(row, y, height);
      return;
    }
    const run = new PixelRun(this.bars, y, height);
    const faint = new PixelRun(this.faintBars, y, height);
    for (const place of row.within(begin, end)) {
      if (place.chunk) this.chunk(place.chunk, y, height, run, faint, isMarked);
      else this.bars.add(0, Math.max(this.view.left, this.x(place.begin)), y + height - 2, this.x(Math.min(end, place.end)) - this.x(Math.max(begin, place.begin)), 1);
    }
    run.finish();
    faint.finish();
  }

  private overview(row: Row, y: number, height: number): void {
    const part = this.timeline.length / Row.parts;
    const first = Math.max(0, Math.floor(this.view.begin / part));
    const last = Math.min(Row.parts - 1, Math.floor(this.view.end / part));
    const wide = (part / (this.view.end - this.view.begin)) * this.view.width;
    const run = new PixelRun(this.bars, y, height);
    for (let p = first; p <= last; p++) {
      const [level, category] = row.overviewAt(p);
      if (level === 0) continue;
      const x = this.x(p * part);
      for (let at = Math.max(x, this.view.left); at < Math.max(x + wide, x + 0.01) && at < this.view.left + this.view.width; at += 1)
        run.add(at, wide >= 1 ? level : level * wide, category);
    }
    run.finish();
    this.drawn += last - first;
  }

  private isFaint(chunk: Chunk, i: number): boolean {
    if (this.marks.op !== null) return chunk.op[i] !== this.marks.op + 1;
    return this.marks.matches![chunk.name[i]] !== 1;
  }

  private chunk(chunk: Chunk, y: number, height: number, run: PixelRun, faint: PixelRun, isMarked: boolean): void {
    const { begin, end, left, width } = this.view;
    const scale = width / (end - begin);
    const pixel = 1 / scale;
    for (let i = firstAfter(chunk, begin); i < chunk.size && chunk.start[i] < end; i++) {
      // Eight events in a pixel are one bar.
      if (!isMarked && i % groupSize === 0 && i + groupSize <= chunk.size && chunk.end[i + groupSize - 1] - chunk.start[i] < pixel) {
        const g = i / groupSize;
        run.add(left + Math.max(0, chunk.start[i] - begin) * scale, Math.max(0.05, chunk.busy[g] * scale), chunk.busyCategory[g]);
        i += groupSize - 1;
        this.drawn++;
        continue;
      }
      this.drawn++;
      const from = left + Math.max(0, chunk.start[i] - begin) * scale;
      const to = left + Math.min(end - begin, chunk.end[i] - begin) * scale;
      const isFaint = isMarked && this.isFaint(chunk, i);
      if (to - from < 1.5) {
        (isFaint ? faint : run).add(from, Math.max(0.05, to - from), chunk.category[i]);
        continue;
      }
      const inset = to - from > 3 ? 0.5 : 0;
      (isFaint ? this.faintBars : this.bars).add(chunk.category[i], from, y, to - from - inset, height);
      if (to - from >= labelFrom && !isFaint) {
        const colour = this.timeline.categories[chunk.category[i]]?.colour ?? '#606973';
        this.labels.push([shortName(this.timeline.text(chunk.name[i])), from, y + height / 2, to - from, inkOn(colour)]);
      }
    }
  }

  finish(): void {
    const colours = this.timeline.categories.map((c) => c.colour);
    this.context.globalAlpha = 0.18;
    this.faintBars.fill(this.context, colours);
    this.context.globalAlpha = 1;
    this.bars.fill(this.context, colours);
    this.context.font = '11px system-ui, sans-serif';
    this.context.textBaseline = 'middle';
    this.context.textAlign = 'left';
    const letter = 6.8;
    for (const [text, x, y, width, ink] of this.labels) {
      const room = Math.floor((width - 6) / letter);
      if (room < Math.min(5, text.length)) continue; // less says nothing
      this.context.fillStyle = ink;
      this.context.fillText(text.length > room ? text.slice(0, room - 1) + '…' : text, x + 3, y);
    }
  }
}

// A counter that does not change needs no room to show how it changes.
export function seriesHeight(s: Series): number {
  return s.min === s.max ? sizes.row : sizes.series;
}

const seriesText = (s: Series, value: number): string => (s.name.endsWith('(bytes)') ? scaled(value, 'B') : Number(value.toPrecision(5)).toLocaleString('en-US'));

// The value that holds at a time; empty: before the first.
export function valueAt(s: Series, at: number): string {
  let low = 0;
  let high = s.t.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (s.t[middle] <= at) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return '';
  return seriesText(s, s.v[low - 1]) + (s.peak && s.peak[low - 1] !== s.v[low - 1] ? ` (largest ${seriesText(s, s.peak[low - 1])})` : '');
}

export function drawSeries(context: CanvasRenderingContext2D, track: Track, view: View, y: number, colours: Colours): void {
  const s = track.series!;
  const values = s.peak ?? s.v;
  const isConstant = s.min === s.max;
  const high = isConstant ? s.max + 1 : Math.max(s.max, 0);
  const low = isConstant ? s.max : Math.min(s.min, 0);
  const height = seriesHeight(s) - 4;
  const scale = high > low ? height / (high - low) : 0;
  const x = (time: number) => view.left + ((time - view.begin) / (view.end - view.begin)) * view.width;
  context.beginPath();
  const base = y + height - (isConstant ? 0 : 0 - low) * scale;
  let started = false;
  for (let i = 0; i < s.t.length; i++) {
    const next = i + 1 < s.t.length ? s.t[i + 1] : Infinity;
    if (next < view.begin || s.t[i] > view.end) continue;
    const from = Math.max(view.left, x(s.t[i]));
    const to = Math.min(view.left + view.width, next === Infinity ? view.left + view.width : x(next));
    const top = y + height - (values[i] - low) * scale;
    if (!started) context.moveTo(from, base);
    started = true;
    context.lineTo(from, top);
    context.lineTo(to, top);
  }
  if (!started) return;
  context.lineTo(view.left + view.width, base);
  context.globalAlpha = 0.35;
  context.fillStyle = colours.series;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = colours.series;
  context.stroke();
  const words = isConstant ? `${seriesText(s, s.max)} all the time` : `max ${seriesText(s, s.max)}`;
  context.font = '10px system-ui, sans-serif';
  context.textAlign = 'left';
  context.lineWidth = 3; // a rim, for letters on the filled part
  context.strokeStyle = colours.back;
  context.strokeText(words, view.left + 4, y + 8);
  context.lineWidth = 1;
  context.fillStyle = colours.faint;
  context.fillText(words, view.left + 4, y + 8);
}

// Round steps of time for the ruler.
export function ticks(begin: number, end: number, most: number): number[] {
  const raw = (end - begin) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= raw) ?? raw;
  const found: number[] = [];
  for (let t = Math.ceil(begin / step) * step; t <= end && found.length < 1000; t += step) found.push(t);
  return found;
}
