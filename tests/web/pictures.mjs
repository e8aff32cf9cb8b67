// Takes the screenshots of the documents from example traces.
//   node pictures.mjs FATHOM SOURCE_DIR CHROMIUM
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [fathom, source, chrome] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(join(source, 'web/node_modules/playwright-core/index.mjs')).href);
const place = mkdtempSync(join(tmpdir(), 'fathom-pictures-'));
const pictures = join(source, 'docs/pictures');
mkdirSync(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath: chrome, args: ['--no-sandbox'] });

const analyze = (name, out) => execFileSync(fathom, ['analyze', join(source, 'examples', name), '--out', out, '--no-cache', '-q', '--force']);
async function open(name, theme, make = (out) => analyze(`${name}.json.gz`, out)) {
  const out = join(place, name);
  make(out);
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: theme })).newPage();
  await page.goto(pathToFileURL(join(out, 'report.html')).href);
  await page.waitForSelector('h1');
  await page.waitForTimeout(1000);
  return page;
}
const take = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });

try {
  const overview = await open('llama-h200', 'light');
  await take(overview, 'report-overview');
  const timeline = await open('llama-h200', 'light');
  await timeline.click('.finding:nth-of-type(2) button.show');
  await timeline.waitForSelector('.details h3');
  await timeline.waitForTimeout(800);
  await take(timeline, 'report-timeline');
  const roofline = await open('llama-h200-counted', 'dark', (out) => analyze('captures/llama-h200.capture', out));
  await roofline.click('#tab-roofline');
  await roofline.waitForTimeout(300);
  await take(roofline, 'report-roofline');
  const stalls = await open('llama-h200-capture', 'light', (out) => analyze('captures/llama-h200.capture', out));
  await stalls.click('#tab-stalls');
  await stalls.waitForTimeout(300);
  await take(stalls, 'report-stalls');
  const overlay = await open('llama-diff', 'dark', (out) =>
    execFileSync(fathom, ['diff', '-q', ...['llama-h200', 'llama-compiled-h200'].map((n) => join(source, 'examples', `${n}.json.gz`)), '--out', out]),
  );
  await overlay.click('#tab-overlay');
  await overlay.waitForTimeout(500);
  await take(overlay, 'diff-overlay');
  const tree = await open('llama-h200', 'light');
  await tree.click('#tab-tree');
  await tree.waitForTimeout(300);
  await tree.selectOption('main select', 'host');
  await tree.waitForTimeout(300);
  await take(tree, 'report-call-tree');
  const scan = await open('tiny-engine', 'light', (out) => execFileSync(fathom, ['scan', '-q', join(source, 'examples/tiny-engine'), '--out', out]));
  await scan.click('#tab-kernels');
  await scan.waitForTimeout(300);
  await take(scan, 'scan-kernels');
} finally {
  await browser.close();
  rmSync(place, { recursive: true, force: true });
}
