// What the reader is looking at. It is in the address, so that a link shows the same.

import { useEffect, useReducer } from 'preact/hooks';

export interface State {
  view: string;
  range: [number, number] | null; // of the timeline, ns; null: all of it
  event: number | null;
  span: [number, number] | null; // selected range
  finding: number | null;
  op: number | null;
  table: string | null;
  query: string;
}

const start: State = { view: '', range: null, event: null, span: null, finding: null, op: null, table: null, query: '' };

function pair(text: string | null): [number, number] | null {
  const parts = (text ?? '').split('-').map(Number);
  return parts.length === 2 && parts.every(Number.isFinite) && parts[0] < parts[1] ? [parts[0], parts[1]] : null;
}
function whole(text: string | null): number | null {
  return text !== null && /^\d{1,16}$/.test(text) ? Number(text) : null;
}

function readHash(hash: string): State {
  const [view, rest] = hash.replace(/^#/, '').split('?');
  const p = new URLSearchParams(rest ?? '');
  return {
    view: decodeURIComponent(view.replace(/%(?![0-9a-f]{2})/gi, '')),
    range: pair(p.get('t')),
    event: whole(p.get('e')),
    span: pair(p.get('s')),
    finding: whole(p.get('f')),
    op: whole(p.get('o')),
    table: p.get('table'),
    query: p.get('q') ?? '',
  };
}

function writeHash(s: State): string {
  const p = new URLSearchParams();
  const put = (key: string, value: string | number | null) => {
    if (value !== null && value !== '') p.set(key, String(value));
  };
  put('t', s.range && `${Math.round(s.range[0])}-${Math.round(s.range[1])}`);
  put('e', s.event);
  put('s', s.span && `${Math.round(s.span[0])}-${Math.round(s.span[1])}`);
  put('f', s.finding);
  put('o', s.op);
  put('table', s.table);
  put('q', s.query);
  const rest = p.toString();
  return '#' + s.view + (rest ? '?' + rest : '');
}

class Store {
  state: State = start;
  private readonly calls = new Set<() => void>();
  private written = '';
  private timer = 0;

  open(): void {
    const read = () => {
      if (location.hash === this.written) return;
      this.state = readHash(location.hash);
      this.tell();
    };
    this.state = readHash(location.hash);
    addEventListener('hashchange', read);
  }
  set(change: Partial<State>): void {
    const isNewView = change.view !== undefined && change.view !== this.state.view;
    this.state = { ...this.state, ...change };
    this.tell();
    clearTimeout(this.timer);
    // Browsers refuse many changes in a short time; a new view is a step back in the history.
    const write = () => {
      this.written = writeHash(this.state);
      try {
        if (isNewView) history.pushState(null, '', this.written);
        else history.replaceState(null, '', this.written);
      } catch {
        location.hash = this.written;
      }
    };
    if (isNewView) write();
    else this.timer = window.setTimeout(write, 200);
  }
  watch(call: () => void): () => void {
    this.calls.add(call);
    return () => this.calls.delete(call);
  }
  private tell(): void {
    for (const call of [...this.calls]) call();
  }
}

export const store = new Store();

export function useStore(): State {
  const [, again] = useReducer((n: number) => n + 1, 0);
  useEffect(() => store.watch(() => again(0)), []);
  return store.state;
}
