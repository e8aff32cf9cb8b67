// How the page is used: keys, small windows, what the first screen has, the pages of scans. Prints a line for each check;
// exit code 1 where one failed.
//   node views.mjs FATHOM SOURCE_DIR CHROMIUM [PART OF A CHECK'S NAME]
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { example, open, place, report, run, runAll, source, summaryOf } from './session.mjs';

const made = (name, ...words) => {
  const out = join(place, name);
  if (!existsSync(out)) run(...words, '--out', out, '-q');
  return out;
};
const scanned = () => {
  const repository = join(place, 'tiny-engine');
  if (!existsSync(repository)) {
    cpSync(join(source, 'examples/tiny-engine'), repository, { recursive: true });
    // Parts that import each other in a circle.
    for (const [part, other] of [['alpha', 'beta'], ['beta', 'gamma'], ['gamma', 'alpha']]) {
      mkdirSync(join(repository, part));
      writeFileSync(join(repository, part, '__init__.py'), '');
      writeFileSync(join(repository, part, 'code.py'), `from ${other}.code import f as g\n\ndef f():\n    return g()\n`);
    }
    const hostile = '<script>window.hacked = 1</script> \u202e reversed';
    writeFileSync(join(repository, 'csrc/hostile.cu'), `__global__ void hostile(float* x) {\n  // ${hostile}\n${'  x[0] += 1.0f;\n'.repeat(200)}}\n`);
  }
  return made('scan', 'scan', repository);
};

// Pairs of texts in pictures that lie over each other.
const overlaps = () => {
  const texts = [...document.querySelectorAll('main svg text')].map((e) => [e.getBoundingClientRect(), e.textContent]).filter(([box]) => box.width > 0);
  const found = [];
  texts.forEach(([a, first], i) => {
    for (const [b, second] of texts.slice(i + 1)) {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 3 && high > 4) found.push(`${first} | ${second}`);
    }
  });
  return found;
};

const checks = {
  async 'labels of pictures do not lie over each other'() {
    for (const name of ['vision-h200', 'llama-h200', 'train-h200']) {
      for (const view of ['tree', 'roofline']) {
        const page = await open(report(example(name)), '#' + view);
        await page.waitForSelector('main svg text');
        assert.deepEqual(await page.evaluate(overlaps), [], `${name} ${view}`);
        await page.done();
      }
    }
  },

  async 'a dark page is printed in light colours'() {
    const page = await open(report(example('llama-h200')));
    await page.evaluate(() => (document.documentElement.dataset.theme = 'dark'));
    const accent = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--accent').trim());
    const dark = await accent();
    await page.emulateMedia({ media: 'print' });
    const printed = await accent();
    await page.evaluate(() => (document.documentElement.dataset.theme = 'light'));
    assert.equal(printed, await accent());
    assert.notEqual(printed, dark);
    await page.done();
  },

  async 'an arrow key goes on to a part of a row that was not decoded'() {
    const page = await open(report(example('llama-h200')), '#timeline');
    await page.waitForFunction(() => window.fathomTimeline?.frames.length > 0);
    await page.waitForTimeout(500);
    const [from, to] = await page.evaluate(async () => {
      const t = window.fathomTimeline;
      const row = t.places.map((p) => p.track.rows).flat().find((r) => r.places.length > 1);
      const second = row.places[1];
      await row.load(row.places[0]);
      second.chunk = null; // as after many others
      location.hash = `#timeline?e=${second.first - 1}`;
      while (t.selection?.number !== second.first - 1) await new Promise((done) => setTimeout(done, 20));
      second.chunk = null;
      return [t.selection.number, (await t.step(1, 0)).number];
    });
    assert.equal(to, from + 1);
    await page.done();
  },

  async 'the first screen has the step and all recommendations'() {
    for (const name of ['llama-h200', 'llama-stacks-h200', 'train-h200']) {
      const out = report(example(name));
      const page = await open(out, '', { width: 1280, height: 800 });
      const expected = summaryOf(out).findings.filter((f) => f.priority !== 'low' && !f.under).slice(0, 5).map((f) => f.title);
      assert.deepEqual(await page.locator('.summary button').allTextContents(), expected);
      const last = await page.locator('.summary li').last().boundingBox();
      assert.ok(last.y + last.height < 800, `${name}: the last one ends at ${last.y + last.height}`);
      await page.locator('.summary button').last().press('Enter');
      assert.ok((await page.evaluate(() => document.activeElement.textContent)).endsWith(expected.at(-1)));
      if (name === 'llama-stacks-h200') assert.match(await page.textContent('.summary'), /models\.py:\d+/);
      await page.done();
    }
  },

  async 'keys work wherever the focus is'() {
    const page = await open(report(example('llama-h200')), '#timeline');
    await page.waitForFunction(() => window.fathomTimeline?.frames.length > 0);
    const length = async () => (await page.view())[1] - (await page.view())[0];
    const whole = await length();
    await page.focus('#tab-timeline');
    await page.keyboard.press('w');
    assert.ok((await length()) < whole);
    await page.keyboard.press('0');
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'search');
    const before = await length();
    await page.keyboard.type('swa');
    assert.equal(await length(), before);
    assert.equal(await page.inputValue('#search'), 'swa');
    await page.keyboard.press('Escape');
    assert.equal(await page.inputValue('#search'), '');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'CANVAS');
    for (const view of ['timeline', 'overview']) {
      await page.click(`#tab-${view}`);
      await page.keyboard.press('?');
      assert.ok(await page.isVisible('dialog.keys'));
      assert.match(await page.textContent('dialog.keys'), /zoom in and out/);
      await page.keyboard.press('Escape');
      assert.ok(!(await page.isVisible('dialog.keys')));
    }
    await page.click('#tab-tables');
    await page.keyboard.press('/');
    assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
    await page.done();
  },

  async 'groups of tracks are hidden and shown'() {
    const page = await open(report(example('llama-stacks-h200')), '#timeline');
    await page.waitForFunction(() => window.fathomTimeline?.frames.length > 0);
    const shown = () => page.evaluate(() => window.fathomTimeline.places.filter((p) => p.height > 0 && p.track.group === 'GPU 0').length);
    assert.ok((await shown()) >= 2);
    await page.click('details.columns summary');
    await page.focus('label:has-text("GPU 0") input');
    await page.keyboard.press('Space');
    assert.equal(await shown(), 0);
    await page.fill('#search', 'nvjet'); // what is selected is shown
    await page.waitForSelector('#matches');
    await page.click('[aria-label="Next match"]');
    await page.waitForSelector('.details h3');
    assert.ok((await shown()) >= 2);
    await page.done();
  },

  async 'a legend says what a colour is in which track'() {
    const page = await open(report(example('llama-stacks-h200')), '#timeline');
    await page.waitForSelector('.colours dt:has-text("GPU idle")');
    const groups = await page.$$eval('.colours > div', (all) => Object.fromEntries(all.map((d) => [d.querySelector('dt').textContent, [...d.querySelectorAll('dd')].map((e) => [e.textContent, e.querySelector('.swatch').style.background])])));
    for (const [name, entries] of Object.entries(groups)) {
      assert.equal(new Set(entries.map(([, colour]) => colour)).size, entries.length, `${name}: ${JSON.stringify(entries)}`);
    }
    assert.ok(groups['GPU idle'].some(([label]) => label === 'late launch'));
    await page.done();
  },

  async 'the table of ops has the numbers of its CSV file'() {
    const out = report(example('llama-h200'));
    const page = await open(out, '#tables');
    const [head, ...rows] = readFileSync(join(out, 'perf_report_csvs/unified_perf_summary.csv'), 'utf8').trim().split('\n');
    const at = head.split(',').indexOf('operation_count');
    const names = await page.$$eval('.table tbody tr[aria-rowindex] td:first-child', (all) => all.map((c) => c.textContent));
    assert.deepEqual(names, rows.slice(0, names.length).map((row) => row.split(',')[0]));
    assert.match(await page.textContent('.table [role=status]'), new RegExp(`^${rows.length} of ${rows.length} rows`));
    assert.ok(at > 0);
    const shown = await page.$$eval('.table tbody tr[aria-rowindex]', (all) => all.map((r) => [...r.children].map((c) => c.textContent)));
    const busy = summaryOf(out).ops.find((op) => op.name === 'aten::mm').gpu_ms;
    await page.fill('.table input[type=search]', 'aten::mm');
    const sum = (await page.$$eval('.table tbody tr[aria-rowindex] td:nth-child(4)', (all) => all.map((c) => Number(c.textContent.replace(/,/g, ''))))).reduce((x, y) => x + y, 0);
    assert.ok(Math.abs(sum - busy) < 0.01 * busy, `${sum} of ${busy} ms`);
    assert.ok(shown[0].length >= 9);
    await page.locator('.table tbody tr[aria-rowindex]').first().press('Enter');
    await page.waitForFunction(() => /#timeline.*o=\d/.test(location.hash));
    await page.done();
  },

  async 'GPU time by source file'() {
    const page = await open(report(example('llama-stacks-h200')), '#tree');
    await page.selectOption('main select', 'sources');
    assert.match(await page.textContent('svg.icicle'), /models\.py.*forward, line \d+/s);
    await page.waitForFunction(() => /table=sources/.test(location.hash));
    const linked = await open(report(example('llama-stacks-h200')), await page.evaluate(() => location.hash));
    assert.match(await linked.textContent('h2'), /by source file/);
    await linked.done();
    await page.done();
    const without = await open(report(example('train-h200')), '#tree');
    assert.equal(await without.locator('option[value=sources]').count(), 0);
    assert.match(await without.textContent('main'), /has no Python stacks/);
    await without.done();
  },

  async 'a scan shows its diagram, its request path and the source of its kernels'() {
    const page = await open(scanned());
    await page.click('#tab-architecture');
    assert.ok((await page.locator('svg.diagram rect').count()) > 1);
    assert.match(await page.textContent('main'), /Request path.*activation.*silu_kernel/s);
    await page.click('#tab-kernels');
    const rows = await page.locator('.table tbody tr[aria-rowindex]').count();
    assert.equal(rows, 8);
    await page.locator('tr:has-text("rms_norm")').press('Enter');
    await page.waitForFunction(() => /rms_norm/.test(document.querySelector('.details h3').textContent));
    const text = readFileSync(join(source, 'examples/tiny-engine/csrc/pointwise.cu'), 'utf8').split('\n');
    const line = Number(/pointwise\.cu:(\d+)/.exec(await page.textContent('.details dl'))[1]);
    const shown = (await page.$$eval('pre.source > div', (all) => all.map((d) => d.lastChild.textContent))).map((l) => l.replace(/\n$/, ''));
    assert.deepEqual(shown, text.slice(line - 1, line - 1 + shown.length));
    assert.match(shown.join('\n'), /__shared__|rsqrtf/);
    await page.locator('tr:has-text("hostile")').press('Enter');
    await page.waitForFunction(() => /hostile/.test(document.querySelector('.details h3').textContent));
    const hostile = await page.textContent('pre.source');
    assert.match(hostile, /<script>window\.hacked/);
    assert.match(hostile, /\\u202e reversed/);
    assert.match(hostile, /further lines/);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    await page.done();
  },

  async 'nothing is wider than a narrow window'() {
    const outs = [
      report(example('llama-stacks-h200')),
      report(example('ddp-rank0-h200')),
      report(join(source, 'examples/captures/llama-h200.capture')),
      made('diff', 'diff', example('llama-h200'), example('llama-compiled-h200')),
      made('story', 'story', example('llama-h200')),
      made('ablation', 'ablate', join(source, 'kernels/rows/suite.toml'), '--replay', join(source, 'kernels/rows/ablation')),
      scanned(),
    ];
    for (const out of outs) {
      const page = await open(out, '', { width: 420, height: 800 });
      for (const tab of await page.locator('[role=tab]').all()) {
        await tab.click();
        await page.waitForTimeout(60);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 421, `${await page.textContent('h1')}, ${await tab.textContent()}: ${wide} pixels`);
      }
      await page.done();
    }
  },

  async 'a view that fails says so and leaves the others'() {
    const html = readFileSync(join(report(example('llama-h200')), 'report.html'), 'utf8');
    const at = html.indexOf('id="facts">') + 11;
    const end = html.indexOf('</script>', at);
    const facts = JSON.parse(inflateRawSync(Buffer.from(html.slice(at, end), 'base64')));
    facts.trees = { calls: 7 };
    mkdirSync(join(place, 'broken'));
    writeFileSync(join(place, 'broken/report.html'), html.slice(0, at) + deflateRawSync(JSON.stringify(facts)).toString('base64') + html.slice(end));
    const page = await open(join(place, 'broken'), '#tree');
    assert.match(await page.textContent('[role=alert]'), /could not be drawn/);
    await page.click('#tab-roofline');
    assert.ok((await page.locator('svg.roofline').count()) === 1);
    assert.equal(page.problems.length, 1);
    await page.context().close();
  },

  async 'a trace without GPU work and one without ops have pages too'() {
    const cpu = join(place, 'cpu.json');
    const op = (name, ts, dur) => ({ ph: 'X', cat: 'cpu_op', name, pid: 1, tid: 1, ts, dur });
    writeFileSync(cpu, JSON.stringify({ traceEvents: [0, 1, 2].flatMap((i) => [op('aten::linear', i * 100, 80), op('aten::addmm', i * 100 + 5, 70)]) }));
    const kernels = join(place, 'kernels.json');
    writeFileSync(kernels, JSON.stringify({ traceEvents: [{ ph: 'X', cat: 'kernel', name: 'k', pid: 0, tid: 7, ts: 1, dur: 9, args: { device: 0, stream: 7 } }] }));
    for (const trace of [cpu, kernels]) {
      const page = await open(report(trace));
      if (trace === cpu) {
        await page.click('#tab-tree');
        assert.match(await page.textContent('h2'), /CPU time by call path/);
        // Self times: linear takes 10 µs beside addmm in each of its three calls.
        const shown = await page.$$eval('.table tbody tr[aria-rowindex]', (all) => all.map((r) => [...r.children].map((c) => c.textContent)));
        assert.deepEqual(shown.map((row) => row.slice(0, 4)), [['aten::linear', '', '0.240', '100.00'], ['aten::addmm', 'aten::linear', '0.210', '87.50']]);
      }
      for (const tab of await page.locator('[role=tab]').all()) {
        await tab.click();
        await page.waitForTimeout(100);
        assert.ok((await page.textContent('main')).trim().length > 20, `${trace}: ${await tab.textContent()} is empty`);
      }
      await page.done();
    }
  },
};

await runAll(checks);
