// Colours of categories. Okabe and Ito's eight, which colour-blind people tell apart, and some more that tests/web/logic.mjs
// measures; what has the same colour never stands in the same row. Every picture also says in words what a colour is.

export interface Category {
  key: string;
  label: string;
  colour: string;
}

const known: Record<string, [string, string]> = {
  other: ['other', '#606973'],
  gemm: ['matrix products', '#0072b2'],
  attention: ['attention', '#e69f00'],
  convolution: ['convolutions', '#cc79a7'],
  elementwise: ['element by element', '#009e73'],
  communication: ['communication', '#d55e00'],
  copy: ['copies and fills', '#56b4e9'],
  other_work: ['other GPU work', '#606973'],
  op: ['ops', '#56b4e9'],
  call: ['runtime calls', '#e69f00'],
  python: ['Python: own code', '#009e73'],
  module: ['Python: modules', '#7fb069'],
  library: ['Python: libraries', '#a9b4a6'],
  range: ['ranges', '#cc79a7'],
  'idle.first_use': ['idle: first use', '#cc79a7'],
  'idle.allocation': ['idle: allocation', '#009e73'],
  'idle.synchronization': ['idle: synchronization', '#e69f00'],
  'idle.communication': ['idle: communication', '#d55e00'],
  'idle.data_loading': ['idle: data loading', '#56b4e9'],
  'idle.late_launch': ['idle: late launch', '#b2182b'],
  'idle.host_code': ['idle: host code', '#7b3294'],
  'idle.host_elsewhere': ['idle: host elsewhere', '#3c32b4'],
  'idle.queued': ['idle: queued', '#bdb76b'],
  'idle.no_launch_recorded': ['idle: no launch recorded', '#737373'],
  'idle.profiler': ['idle: profiler', '#c6ccd2'],
  'idle.unknown': ['idle: unknown', '#525252'],
  'path.host_outside_calls': ['host outside recorded calls', '#8c6d31'],
  'path.host_op': ['host in ops', '#e69f00'],
  'path.host_call': ['host in runtime calls', '#e4c690'],
  'path.launch_call': ['launch calls', '#f0e442'],
  'path.sync_return': ['return from waits', '#cc79a7'],
  'path.host_pause': ['host pauses', '#7b3294'],
  'path.kernel': ['kernels', '#0072b2'],
  'path.collective': ['collectives', '#d55e00'],
  'path.copy': ['copies and fills', '#56b4e9'],
  'path.memset': ['copies and fills', '#56b4e9'],
  'path.launch_latency': ['launch latency', '#bdbdbd'],
  'path.stream_gap': ['gaps between kernels', '#d9d9d9'],
  'path.event_wait': ['event waits', '#6e747a'],
  'path.unexplained': ['unexplained delays', '#525252'],
  'path.before': ['before the first event', '#d9d9d9'],
  'step.even': ['steps', '#5b7a99'],
  'step.odd': ['steps', '#8fa9c2'],
  'phase.prefill': ['prefill', '#e69f00'],
  'phase.decode': ['decode', '#0072b2'],
  'phase.forward': ['forward', '#56b4e9'],
  'phase.backward': ['backward', '#cc79a7'],
  'phase.optimizer': ['optimizer', '#009e73'],
  'phase.communication': ['communication', '#d55e00'],
  computation: ['compute', '#0072b2'],
  exposed_communication: ['exposed communication', '#d55e00'],
  exposed_copies: ['exposed copies', '#56b4e9'],
};

export function category(key: string): Category {
  const found = Object.hasOwn(known, key) ? known[key] : undefined;
  return { key, label: found?.[0] ?? key.replace(/^phase\./, '').replace(/_/g, ' '), colour: found?.[1] ?? '#606973' };
}

// Black or white, whichever is read better on a colour.
export function inkOn(colour: string): string {
  const n = parseInt(colour.slice(1), 16);
  const light = 0.299 * (n >> 16) + 0.587 * ((n >> 8) & 255) + 0.114 * (n & 255);
  return light > 140 ? '#000' : '#fff';
}
