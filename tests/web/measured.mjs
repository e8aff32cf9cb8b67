// The views of what was measured and compared, in a real browser: counted roofline, stalls, memory, two runs over each
// other, the waterfall of an ablation. Prints a line for each check; exit code 1 where one failed.
//   node measured.mjs FATHOM SOURCE_DIR CHROMIUM
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open, place, report, run, runAll, source } from './session.mjs';

const checks = {
  async 'counted kernels are marked as measured in the roofline'() {
    const page = await open(report(join(source, 'examples/captures/llama-h200.capture')));
    await page.click('#tab-roofline');
    const squares = await page.locator('svg.roofline rect.point').count();
    assert.ok(squares > 5, `${squares} squares`);
    assert.ok((await page.locator('svg.roofline circle.point').count()) > 5);
    assert.match(await page.textContent('.marks'), new RegExp(`measured: ${squares} kernels`));
    await page.locator('svg.roofline rect.point').first().focus();
    await page.keyboard.press('Enter');
    assert.match(await page.textContent('.details'), /measured: counters of/);
    await page.click('.details button');
    await page.waitForFunction(() => /q=/.test(location.hash) && window.fathomTimeline?.frames.length > 0);
    // The capture has 3 s of other things before what was analyzed.
    const { length_ms } = await page.evaluate(() => ({ length_ms: (window.fathomTimeline.end - window.fathomTimeline.begin) / 1e6 }));
    assert.ok(length_ms < 2000, `${length_ms} ms in view`);
    await page.fill('#search', 'nvjet_sm90_tst_192x192');
    await page.waitForSelector('#matches');
    await page.click('[aria-label="Next match"]');
    await page.waitForFunction(() => /SM [\d.]+ % · tensor pipe.*stalls: .*measured/.test(document.querySelector('.details')?.textContent ?? ''));
    await page.done();
  },

  async 'an estimated roofline says how to measure'() {
    const page = await open(report(join(source, 'examples/llama-h200.json.gz')));
    await page.click('#tab-roofline');
    assert.equal(await page.locator('svg.roofline rect.point').count(), 0);
    assert.match(await page.textContent('.marks'), /fathom record --counters/);
    assert.equal(await page.locator('#tab-stalls').count(), 0);
    await page.done();
  },

  async 'stalls are bars, with the lines of PC samples'() {
    const page = await open(report(join(source, 'examples/captures/stalls-h200.capture')));
    await page.click('#tab-stalls');
    assert.equal(await page.locator('.stall').count(), 3);
    const widths = await page.$$eval('.stall', (all) => all.map((bar) => [...bar.querySelectorAll('.whole span')].reduce((sum, s) => sum + parseFloat(s.style.width), 0)));
    const shares = await page.$$eval('.stall .sub', (all) => all.map((s) => Number(s.textContent.match(/([\d.]+) % stalled/)[1])));
    widths.forEach((width, i) => assert.ok(Math.abs(width - shares[i]) < 0.2, `${width} ${shares[i]}`));
    assert.match(await page.textContent('section[aria-label=Stalls]'), /stalls\.cu:34/);
    await page.done();
  },

  async 'memory over time is shown in bytes'() {
    const instants = [0, 1, 2, 3].map((i) => ({ ph: 'i', cat: 'cpu_instant_event', s: 't', name: '[memory]', pid: 1, tid: 1, ts: 1 + i, args: { 'Total Reserved': 8e9, 'Total Allocated': 2e9 * i, 'Device Id': 0, 'Device Type': 1 } }));
    const kernel = { ph: 'X', cat: 'kernel', name: 'k', pid: 0, tid: 7, ts: 1, dur: 9, args: { device: 0, stream: 7, correlation: 1 } };
    writeFileSync(join(place, 'memory.json'), JSON.stringify({ traceEvents: [...instants, kernel] }));
    const page = await open(report(join(place, 'memory.json')));
    await page.click('#tab-counters');
    await page.waitForSelector('.chart canvas');
    assert.match(await page.textContent('section[aria-label=Counters]'), /GPU 0 memory allocated.*6,000,000,000/s);
    await page.done();
  },

  async 'two runs lie over each other'() {
    const out = join(place, 'diff');
    const [a, b] = ['llama-h200', 'llama-compiled-h200'].map((n) => join(source, 'examples', `${n}.json.gz`));
    run('diff', '-q', a, b, '--out', out);
    const diff = JSON.parse(readFileSync(join(out, 'diff.json'), 'utf8'));
    const page = await open(out);
    await page.click('#tab-overlay');
    await page.waitForSelector('.chart canvas');
    const names = await page.locator('table.pairs').first().locator('tbody th').allTextContents();
    assert.deepEqual(names, diff.categories.map((c) => c.name));
    assert.match(await page.textContent('section[aria-label=Overlay]'), /8\.35 ms.*−8\.32 ms \(−99\.7 %\)/s);
    await page.done();
  },

  async 'a run shows what was expected and what was measured'() {
    const out = join(place, 'run');
    run('run', join(source, 'examples/run/rows/plan.toml'), '--replay', join(source, 'examples/run/rows/recorded'), '--out', out);
    const page = await open(out);
    const pictures = page.locator('img.picture[alt^="Expected and measured"]');
    assert.equal(await pictures.count(), 4);
    assert.ok(await pictures.first().evaluate((img) => img.complete && img.naturalWidth > 100));
    // The numbers of the picture are in the table below it.
    assert.match(await page.textContent('#document'), /Expected and actual observations.*68\.48 µs.*confirmed/s);
    await page.done();
  },

  async 'an ablation shows its waterfall'() {
    const out = join(place, 'ablation');
    run('ablate', join(source, 'kernels/rows/suite.toml'), '--replay', join(source, 'kernels/rows/ablation'), '--out', out);
    const page = await open(out);
    const rows = await page.locator('table.ladder tbody tr').count();
    assert.ok(rows >= 3, `${rows} rows`);
    assert.equal(await page.locator('img.picture[alt*=Waterfall]').count(), 0); // the same twice
    await page.done();
  },
};

await runAll(checks);
