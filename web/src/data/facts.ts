// What the program puts into the page (src/report/trace/analysis_page.cc).

export interface Column {
  name: string;
  unit: string;
  text: boolean;
}
export type Cell = string | number | null;
export interface Table {
  name: string;
  rows: number;
  left_out: number;
  columns: Column[];
  values: Cell[][];
}

export interface EvidenceOp {
  op: string;
  shapes: string;
  calls: number;
  time_ms: number;
  efficiency: number | null;
  bound: string;
  kernels: string[];
  sources: string[];
}
export interface Finding {
  kind: string;
  priority: 'critical' | 'high' | 'medium' | 'low';
  priority_reason: string;
  confidence: string;
  title: string;
  category: string;
  issue: string;
  time_ms: number;
  share: number;
  saving_percent: [number, number];
  saving: string;
  change: string;
  kernel_change: string;
  counters: string;
  evidence: EvidenceOp[];
  stack: string[];
  places: string[];
  unplaced: number;
  notes: string[];
  under: string;
  events: number;
  covered: number[]; // numbers of events, the longest first
}

export interface Op {
  name: string;
  category: string;
  colour: string;
  shapes: string;
  calls: number;
  time_ms: number;
  share: number;
  efficiency: number | null;
  bound: string;
  rate: string;
  no_limit: string;
  flops?: number;
  bytes?: number;
  assumption?: string;
  kernels: string[];
  sources: string[];
}

export interface Limit {
  name: string;
  rate: number;
  achievable: boolean;
  source: string;
}

export interface StoryNode {
  text: string;
  mark: string;
  evidence: string;
  below: StoryNode[];
}
export interface StorySection {
  title: string;
  after: string;
  nodes: StoryNode[];
}

// Name, GPU time in ns, events, children.
export type TreeNode = [string, number, number, TreeNode[]];

export type Place = [number, number]; // offset and length in the blocks
export interface RowFacts {
  first: number; // number of the first event + 1
  events: number;
  chunks: [number, number, number, number, number][]; // events, begin, end, offset, length
  overview?: Place;
}
export interface TrackFacts {
  kind: 'path' | 'idle' | 'stream' | 'gpu_ranges' | 'python' | 'thread';
  group: string;
  name: string;
  thread?: number;
  too_deep?: number;
  rows: RowFacts[];
}
export interface Series {
  name: string;
  points: number;
  min: number;
  max: number;
  t: number[];
  v: number[];
  peak?: number[];
}
export interface TimelineFacts {
  length_ns: number;
  categories: string[];
  tracks: TrackFacts[];
  series: Series[];
  left_out: { tracks: number; events: number; texts: number };
  texts: Place;
}

export interface DeviceTime {
  busy_ms: number;
  computation_ms: number;
  exposed_communication_ms: number;
  exposed_copies_ms: number;
  idle_ms: number;
}
export interface Summary {
  trace: string;
  runtime: string | null;
  source: string | null;
  events: number;
  gpu_events: number;
  platform: string | null;
  wall_time: {
    base: string;
    name: string | null;
    steps: number;
    wall_ms: number;
    devices: DeviceTime[];
    idle_ms: Record<string, number>;
  };
  gpu_timeline_ms: Record<string, number>;
  ops: { name: string; category: string; calls: number; gpu_ms: number; percent: number }[];
  cpu?: { length_ms: number; self_time_ms: number };
  host?: { length_ms: number };
}

export interface CountedKernel {
  name: string;
  grid: string;
  block: string;
  count: number;
  time_ms: number;
  file: string;
  join: string;
  trusted: boolean;
  source?: string;
  intensity?: number;
  flop_rate?: number;
  dram_rate?: number; // GB/s
  dram_throughput?: number;
  sm_throughput?: number;
  tensor?: number;
  occupancy?: number;
  stalls: [string, number][]; // percent of warp states
}
export interface SampledKernel {
  name: string;
  time_ms: number;
  samples: number;
  stalled: number;
  reasons: [string, number][]; // samples
  places: { place: string; samples: number; reasons: [string, number][] }[];
}
export interface Hardware {
  kernels: CountedKernel[];
  sampled: SampledKernel[];
}

// Two runs over each other (src/report/page/documents_page.h).
export interface OverlaySide {
  name: string;
  length_ns: number;
  busy: number[];
}
export interface Pair {
  name: string;
  a_ms: number;
  b_ms: number;
}
export interface Overlay {
  a: OverlaySide;
  b: OverlaySide;
  part_ns: number;
  unit: string;
  categories: Pair[];
  ops: Pair[];
}
export interface Ladder {
  title: string;
  steps: { name: string; words: string; kind: 'whole' | 'better' | 'worse' | 'not_kept' | 'result' | 'floor'; from_s: number; to_s: number }[];
}

// A kernel in a repository (src/report/page/documents_page.h).
export interface ScannedKernel {
  name: string;
  scope: string;
  kind: string;
  file: string;
  line: number;
  lines: number;
  dead: boolean;
  launches: string[];
  path: string[];
  techniques: string[];
  excerpt: string; // its first lines
}

export interface Note {
  text: string;
  warning: boolean;
}

export interface Facts {
  kind: string;
  title: string;
  program: string;
  headline: string;
  notes?: Note[];
  wall_text?: string;
  summary?: Summary;
  findings?: Finding[];
  findings_left_out?: number;
  recommended?: number[];
  story?: StorySection[];
  steps?: [string, number, number][];
  phases?: { name: string; kind: string; spans: number[] }[];
  wall?: [number, number];
  ops?: Op[];
  limits?: { platform: string; memory: Limit[]; compute: Limit[] };
  hardware?: Hardware;
  overlay?: Overlay;
  ladder?: Ladder;
  kernels?: ScannedKernel[];
  kernels_left_out?: number;
  trees?: { calls: TreeNode; modules?: TreeNode; host?: TreeNode };
  tables?: Table[];
  documents?: { path: string; text: string }[]; // Markdown
  documents_left_out?: number;
  bars?: { name: string; parts: { key: string; label: string; ms: number }[] }[];
  pictures?: { path: string; base64: string }[]; // SVG
  timeline?: TimelineFacts;
}

// Characters that a reader does not see, or that put others out of order, as escapes. The program does the same; this
// holds for whatever a page is made of.
const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const longest = 4000;

export function safeText(text: string, most = longest): string {
  const cut = text.length > most ? text.slice(0, most) + '…' : text;
  return cut.replace(unseen, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

// All strings of a value, in place. Documents are long; they are made safe where they are shown.
export function makeSafe<T>(value: T): T {
  if (typeof value === 'string') return safeText(value) as T;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (typeof value[i] !== 'number') value[i] = makeSafe(value[i]);
  } else if (value !== null && typeof value === 'object') {
    const object = value as Record<string, unknown>;
    for (const key of Object.keys(object)) {
      const isLong = key === 'excerpt' && typeof object[key] === 'string'; // of source code
      if (isLong) object[key] = safeText(object[key] as string, 40_000);
      else if (typeof object[key] !== 'number' && key !== 'documents' && key !== 'pictures') object[key] = makeSafe(object[key]);
    }
  }
  return value;
}
