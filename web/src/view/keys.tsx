// The keys, in a dialog that "?" opens in every view.

import { useEffect, useRef } from 'preact/hooks';

const keys: [string, [string, string][]][] = [
  [
    'Everywhere',
    [
      ['?', 'this list'],
      ['/', 'search or filter'],
      ['Tab, Shift + Tab', 'next and last control'],
      ['← →', 'on the name of a view: next and last view'],
      ['Enter, Space', 'press the button, row or part of a picture that has the focus'],
    ],
  ],
  [
    'Timeline',
    [
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
      ['N, Shift + N', 'next and last match of the search'],
      ['Esc', 'clear selection, range, finding and search'],
    ],
  ],
];

export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const press = (e: KeyboardEvent) => {
      const target = e.target as HTMLElement | null;
      if (e.ctrlKey || e.metaKey || e.altKey || target?.matches?.('input, select, textarea')) return;
      if (e.key === '?') {
        e.preventDefault();
        if (!dialog.current!.open) dialog.current!.showModal();
      }
      if (e.key === '/' && !e.defaultPrevented) {
        const field = document.querySelector<HTMLInputElement>('main input[type=search]');
        if (!field) return;
        e.preventDefault();
        field.focus();
      }
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return (
    <>
      <button type="button" onClick={() => dialog.current!.showModal()} aria-label="Keys" title="Keys (?)">
        ?
      </button>
      <dialog ref={dialog} class="keys" aria-label="Keys">
        {keys.map(([where, list]) => (
          <section key={where}>
            <h3>{where}</h3>
            <dl>
              {list.map(([key, what]) => (
                <div key={key}>
                  <dt>{key}</dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <button type="button" onClick={() => dialog.current!.close()}>
          Close
        </button>
      </dialog>
    </>
  );
}
