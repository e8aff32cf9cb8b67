// The events of a timeline (src/report/page/page_columns.h), decoded chunk by chunk when they are looked at.

import { columnsOf, inflate, numbers, signedSums, sums } from './decode';
import type { RowFacts } from './facts';

export const groupSize = 8;
const overviewParts = 4096;

// Events that do not overlap, in the order of time.
export interface Chunk {
  size: number;
  first: number; // number of its first event
  start: Float64Array;
  end: Float64Array;
  name: Uint32Array;
  category: Uint8Array;
  info: Uint32Array;
  op: Uint32Array;
  link: Float64Array;
  uid: Float64Array;
  // Of every eight events: busy time, and the category of most of it.
  busy: Float64Array;
  busyCategory: Uint8Array;
}

type Groups = Pick<Chunk, 'busy' | 'busyCategory'>;
export function groupsOf(chunk: Pick<Chunk, 'size' | 'start' | 'end' | 'category'>): Groups {
  const groups = Math.ceil(chunk.size / groupSize);
  const busy = new Float64Array(groups);
  const busyCategory = new Uint8Array(groups);
  const sums = new Float64Array(256);
  for (let g = 0; g < groups; g++) {
    const begin = g * groupSize;
    const end = Math.min(chunk.size, begin + groupSize);
    let sum = 0;
    let best = chunk.category[begin];
    for (let i = begin; i < end; i++) {
      const length = chunk.end[i] - chunk.start[i];
      const c = chunk.category[i];
      sum += length;
      sums[c] += length;
      if (sums[c] > sums[best]) best = c;
    }
    for (let i = begin; i < end; i++) sums[chunk.category[i]] = 0;
    busy[g] = sum;
    busyCategory[g] = best;
  }
  return { busy, busyCategory };
}

// What is drawn is decoded at once, what is asked of single events when the first is asked of.
class DecodedChunk implements Chunk {
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly name: Uint32Array;
  readonly category: Uint8Array;
  readonly busy: Float64Array;
  readonly busyCategory: Uint8Array;
  private readonly columns: Uint8Array[];
  private infos?: Uint32Array;
  private ops?: Uint32Array;
  private links?: Float64Array;
  private uids?: Float64Array;

  constructor(
    bytes: Uint8Array,
    readonly size: number,
    readonly first: number,
  ) {
    this.columns = columnsOf(bytes, 8);
    this.start = sums(this.columns[0], new Float64Array(size));
    this.end = numbers(this.columns[1], new Float64Array(size));
    for (let i = 0; i < size; i++) this.end[i] += this.start[i];
    this.name = numbers(this.columns[2], new Uint32Array(size));
    this.category = numbers(this.columns[3], new Uint8Array(size));
    ({ busy: this.busy, busyCategory: this.busyCategory } = groupsOf(this));
  }
  get info(): Uint32Array {
    return (this.infos ??= numbers(this.columns[4], new Uint32Array(this.size)));
  }
  get op(): Uint32Array {
    return (this.ops ??= numbers(this.columns[5], new Uint32Array(this.size)));
  }
  get link(): Float64Array {
    return (this.links ??= signedSums(this.columns[6], new Float64Array(this.size)));
  }
  get uid(): Float64Array {
    return (this.uids ??= signedSums(this.columns[7], new Float64Array(this.size)));
  }
}

interface ChunkPlace {
  events: number;
  first: number;
  begin: number;
  end: number;
  offset: number;
  length: number;
  chunk: Chunk | null;
  loading: Promise<Chunk> | null;
  used: number; // when it was last looked at
}

// A row of a track: all its events, of which some are decoded.
export class Row {
  readonly places: ChunkPlace[] = [];
  readonly first: number;
  readonly events: number;
  overview: Uint8Array | null = null; // levels, then categories

  constructor(
    facts: RowFacts,
    private readonly blocks: BlockSource,
  ) {
    this.first = facts.first - 1;
    this.events = facts.events;
    let first = this.first;
    for (const [events, begin, end, offset, length] of facts.chunks) {
      this.places.push({ events, first, begin, end, offset, length, chunk: null, loading: null, used: 0 });
      first += events;
    }
    if (facts.overview) {
      const [offset, length] = facts.overview;
      this.overviewLoad = () =>
        inflate(blocks.text(offset, length)).then((bytes) => {
          this.overview = bytes;
        });
    }
  }
  overviewLoad: (() => Promise<void>) | null = null;

  // A row of what the page makes itself.
  static of(chunk: Chunk, blocks: BlockSource): Row {
    const row = new Row({ first: chunk.first + 1, events: chunk.size, chunks: [] }, blocks);
    if (chunk.size > 0) {
      row.places.push({
        events: chunk.size,
        first: chunk.first,
        begin: chunk.start[0],
        end: chunk.end[chunk.size - 1],
        offset: 0,
        length: 0,
        chunk,
        loading: null,
        used: Infinity,
      });
    }
    return row;
  }

  *within(begin: number, end: number): Generator<ChunkPlace> {
    // Chunks are in the order of time.
    let low = 0;
    let high = this.places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.places[middle].end < begin) low = middle + 1;
      else high = middle;
    }
    for (let i = low; i < this.places.length && this.places[i].begin <= end; i++) yield this.places[i];
  }

  load(place: ChunkPlace): Promise<Chunk> {
    if (place.chunk) return Promise.resolve(place.chunk);
    place.loading ??= inflate(this.blocks.text(place.offset, place.length)).then((bytes) => {
      place.chunk = new DecodedChunk(bytes, place.events, place.first);
      place.loading = null;
      this.blocks.loaded(place);
      return place.chunk;
    });
    return place.loading;
  }

  has(number: number): boolean {
    return number >= this.first && number < this.first + this.events;
  }

  // Where the event of a number lies.
  placeOf(number: number): ChunkPlace | null {
    if (!this.has(number)) return null;
    let low = 0;
    let high = this.places.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.places[middle].first <= number) low = middle;
      else high = middle - 1;
    }
    return this.places[low] ?? null;
  }
  async at(number: number): Promise<{ chunk: Chunk; index: number } | null> {
    const place = this.placeOf(number);
    return place && { chunk: await this.load(place), index: number - place.first };
  }

  // How full a part of the timeline is (0 to 1), and with what.
  overviewAt(part: number): [number, number] {
    const o = this.overview!;
    return [o[part] / 255, o[overviewParts + part]];
  }
  static readonly parts = overviewParts;
}

// The base64 text of the page, and how many events are decoded at once.
export class BlockSource {
  private static readonly most = 4_000_000;
  private decoded = 0;
  private clock = 0;
  private readonly held = new Set<ChunkPlace>();
  constructor(private readonly all: string) {}

  text(offset: number, length: number): string {
    return this.all.slice(offset, offset + length);
  }
  touch(place: ChunkPlace): void {
    place.used = ++this.clock;
  }
  loaded(place: ChunkPlace): void {
    this.held.add(place);
    this.decoded += place.events;
    place.used = ++this.clock;
    if (this.decoded <= BlockSource.most) return;
    const oldest = [...this.held].sort((x, y) => x.used - y.used);
    for (const old of oldest) {
      if (this.decoded <= BlockSource.most * 0.8) break;
      old.chunk = null;
      this.held.delete(old);
      this.decoded -= old.events;
    }
  }
}

// The first event of a chunk that ends after a time.
export function firstAfter(chunk: Chunk, at: number): number {
  let low = 0;
  let high = chunk.size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunk.end[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
