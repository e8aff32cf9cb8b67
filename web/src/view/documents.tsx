// A report that is written as Markdown: its documents, with links between them, tables and pictures.

import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { safeText, type Facts } from '../data/facts';
import { plain, readMarkdown, type Block, type Inline } from '../data/markdown';
import { category } from '../data/categories';
import { millis } from '../data/format';
import { store, useStore } from '../store';
import { Bar } from './bar';
import { Ladder } from './ladder';
import { DataTable } from './table';
import { Diagram, readFlowchart } from './diagram';

interface Place {
  facts: Facts;
  path: string; // of the document
}

// "kernels/csrc.md#a" from "kernels.md" → the document's path and the heading.
export function resolve(from: string, to: string): { path: string; anchor: string } {
  const [target, anchor = ''] = to.split('#');
  if (target === '') return { path: from, anchor };
  const parts = from.split('/').slice(0, -1);
  for (const part of target.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return { path: parts.join('/'), anchor };
}

function show(path: string, anchor: string): void {
  store.set({ view: 'documents', table: path });
  setTimeout(() => {
    const heading = anchor === '' ? document.getElementById('document') : document.getElementById(`h-${decodeURIComponent(anchor)}`);
    heading?.scrollIntoView();
    heading?.focus({ preventScroll: true });
  }, 60);
}

function inlines(all: Inline[], place: Place): ComponentChildren {
  return all.map((part, i) => {
    switch (part.kind) {
      case 'text':
        return part.text;
      case 'code':
        return <code key={i}>{part.text}</code>;
      case 'strong':
        return <strong key={i}>{inlines(part.inner, place)}</strong>;
      case 'em':
        return <em key={i}>{inlines(part.inner, place)}</em>;
      case 'image': {
        const picture = place.facts.pictures?.find((p) => p.path === resolve(place.path, part.to).path);
        // As the source of an image an SVG runs no script.
        return picture ? <img key={i} class="picture" alt={part.text} src={`data:image/svg+xml;base64,${picture.base64}`} /> : <em key={i}>{part.text}</em>;
      }
      case 'link': {
        const to = resolve(place.path, part.to);
        if (place.facts.documents?.some((d) => d.path === to.path))
          return (
            <button key={i} type="button" class="link inline" onClick={() => show(to.path, to.anchor)}>
              {inlines(part.inner, place)}
            </button>
          );
        if (/^https:\/\/[^\s"'<>]+$/.test(part.to))
          return (
            <a key={i} href={part.to} rel="noopener noreferrer" target="_blank">
              {inlines(part.inner, place)}
            </a>
          );
        return <span key={i} title={part.to}>{inlines(part.inner, place)}</span>;
      }
    }
  });
}

function blocks(all: Block[], place: Place): ComponentChildren {
  return all.map((block, i) => {
    switch (block.kind) {
      case 'heading': {
        const level = Math.min(6, block.level + 1);
        const content = { id: `h-${block.id}`, tabIndex: -1, children: inlines(block.inner, place) };
        return level === 2 ? <h2 key={i} {...content} /> : level === 3 ? <h3 key={i} {...content} /> : <h4 key={i} {...content} />;
      }
      case 'paragraph': {
        // The same values as the drawing, in the page's colours and as a table.
        const only = block.inner.length === 1 ? block.inner[0] : undefined;
        if (only?.kind === 'image' && only.to === 'waterfall.svg' && place.facts.ladder) return null; // it is on top
        return <p key={i}>{inlines(block.inner, place)}</p>;
      }
      case 'rule':
        return <hr key={i} />;
      case 'code': {
        // Letters that draw the diagram which follows.
        const next = all[i + 1];
        if (block.language === '' && next?.kind === 'code' && next.language === 'mermaid' && readFlowchart(next.text)) return null;
        return block.language === 'mermaid' ? <Diagram key={i} text={block.text} /> : <pre key={i} tabIndex={0}>{block.text}</pre>;
      }
      case 'quote':
        return <blockquote key={i}>{blocks(block.inner, place)}</blockquote>;
      case 'list': {
        const items = block.items.map((item, n) => {
          const only = item.length === 1 && item[0].kind === 'paragraph' ? item[0].inner : null;
          const task = only && only[0]?.kind === 'text' ? /^\[([ xX])\] /.exec(only[0].text) : null;
          if (only && task)
            return (
              <li key={n} class="task">
                <input type="checkbox" disabled checked={task[1] !== ' '} aria-label={task[1] !== ' ' ? 'done' : 'open'} />{' '}
                {inlines([{ kind: 'text', text: (only[0] as { text: string }).text.slice(4) }, ...only.slice(1)], place)}
              </li>
            );
          return <li key={n}>{only ? inlines(only, place) : blocks(item, place)}</li>;
        });
        return block.ordered ? <ol key={i}>{items}</ol> : <ul key={i}>{items}</ul>;
      }
      case 'table':
        return (
          <div key={i} class="scroll" tabIndex={0} role="region" aria-label={`Table: ${block.head.map(plain).join(', ')}`}>
            <table class="document">
              <thead>
                <tr>
                  {block.head.map((cell, n) => (
                    <th key={n} scope="col" class={block.right[n] ? 'number' : ''}>
                      {inlines(cell, place)}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {block.rows.map((row, r) => (
                  <tr key={r}>
                    {row.slice(0, block.head.length).map((cell, n) => (
                      <td key={n} class={block.right[n] ? 'number' : ''}>
                        {inlines(cell, place)}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        );
    }
  });
}

// Drawn to one scale, so that they can be compared.
function Bars({ facts }: { facts: Facts }) {
  const bars = (facts.bars ?? []).map((bar) => ({ ...bar, total: bar.parts.reduce((sum, part) => sum + part.ms, 0) })).filter((bar) => bar.total > 0);
  const longest = Math.max(...bars.map((bar) => bar.total));
  return (
    <>
      {bars.map((bar) => (
        <div key={bar.name}>
          <h3>
            {bar.name}: {millis(bar.total)}
          </h3>
          <Bar
            label={bar.name}
            total={bar.total}
            scale={bar.total / longest}
            parts={bar.parts.map((part, i) => ({ key: `${part.key}-${i}`, label: part.label, colour: category(part.key).colour, value: part.ms }))}
          />
        </div>
      ))}
    </>
  );
}

// "quick_scan.md" → "Quick scan".
function titleOf(path: string): string {
  const words = path.replace(/\.md$/, '').replace(/_/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

// How a repository is built: the diagram of its parts and the request path, of the document that has both.
const architecture = 'architecture.md';
function architectureBlocks(facts: Facts): Block[] {
  const text = facts.documents?.find((d) => d.path === architecture)?.text;
  if (text === undefined) return [];
  const all = readMarkdown(safeText(text, Infinity));
  const section = (title: string) => {
    const from = all.findIndex((b) => b.kind === 'heading' && plain(b.inner) === title);
    if (from < 0) return [];
    const level = (all[from] as Block & { kind: 'heading' }).level;
    const to = all.findIndex((b, i) => i > from && b.kind === 'heading' && b.level <= level);
    return all.slice(from, to < 0 ? undefined : to);
  };
  const picture = all.filter((b) => b.kind === 'code' && b.language === 'mermaid');
  return [...picture, ...section('Components'), ...section('Data flow'), ...section('Request path')];
}

export const hasArchitecture = (facts: Facts): boolean => facts.kind === 'scan' && architectureBlocks(facts).length > 0;

export function Architecture({ facts }: { facts: Facts }) {
  const content = useMemo(() => architectureBlocks(facts), [facts]);
  return (
    <section aria-label="Architecture" id="document">
      <p class="sub">Parts of the repository, and which imports or includes which; the thickness of an arrow is how often.</p>
      {blocks(content, { facts, path: architecture })}
    </section>
  );
}

export function Documents({ facts, full }: { facts: Facts; full?: boolean }) {
  const state = useStore();
  const documents = facts.documents ?? [];
  const chosen = documents.find((d) => d.path === state.table) ?? documents[0];
  const content = useMemo(() => (chosen ? readMarkdown(safeText(chosen.text, Infinity)) : []), [chosen]);
  if (!chosen) return null;
  return (
    <section aria-label="Report" class={documents.length > 1 ? 'documents' : ''}>
      {documents.length > 1 && !full && (
        <nav aria-label="Documents">
          <ul>
            {documents.map((d) => (
              <li key={d.path}>
                <button type="button" class="link" title={d.path} aria-current={d === chosen ? 'page' : undefined} onClick={() => show(d.path, '')}>
                  {titleOf(d.path)}
                </button>
              </li>
            ))}
          </ul>
          {(facts.documents_left_out ?? 0) > 0 && <p class="sub">{facts.documents_left_out} further documents are beside this page.</p>}
        </nav>
      )}
      <article id="document" tabIndex={-1}>
        {chosen === documents[0] && <Bars facts={facts} />}
        {chosen === documents[0] && facts.ladder && <Ladder ladder={facts.ladder} />}
        {blocks(content, { facts, path: chosen.path })}
      </article>
    </section>
  );
}

export function DocumentTables({ facts, full }: { facts: Facts; full?: boolean }) {
  return (
    <section aria-label="Tables">
      {(facts.tables ?? [])
        .filter((t) => t.rows > 0)
        .map((t) => (
          <div key={t.name}>
            <h3>{t.name}</h3>
            <DataTable table={t} label={t.name} full={full || t.rows < 12} />
          </div>
        ))}
    </section>
  );
}
