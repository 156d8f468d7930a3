// The page in a real browser. Needs THRONG (the command), CHROMIUM (the browser) and OUT (a folder for screenshots).
// DIST names a folder with another build of the page than the one that the command embeds, to try it without a build of cargo.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { chromium } from "playwright-core";

const { THRONG, CHROMIUM, OUT, DIST } = process.env;
const folder = mkdtempSync(join(tmpdir(), "throng-page-"));
const servers = [];

/** Runs the command to its end. */
async function throng(...args) {
  const child = spawn(THRONG, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (text) => (out += text));
  child.stderr.on("data", (text) => (err += text));
  const [code] = await once(child, "close");
  return { code, out, err };
}

/** Serves a page and says where. */
async function serve(...args) {
  const child = spawn(THRONG, ["view", ...args, "--no-open", "--port", "0"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  servers.push(child);
  let out = "";
  for await (const text of child.stdout) {
    out += text;
    const found = out.match(/http:\S+\//);
    if (found) return found[0];
  }
  throw new Error(`no page: ${out}`);
}

const browser = await chromium.launch({
  executablePath: CHROMIUM,
  // On a busy machine software rendering is slow, which is no reason to end.
  args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-gpu-watchdog", "--disable-gpu-process-crash-limit"],
});
const complaints = [];

async function visit(url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  // Not index.html: Chromium takes a document that it did not get from loopback for one of the Internet, and keeps it from there.
  for (const name of DIST ? ["page.js", "page.css"] : []) {
    await page.route(`**/${name}`, (route) => route.fulfill({ path: join(DIST, name) }));
  }
  await page.goto(url);
  page.setDefaultTimeout(60_000);
  return page;
}

/** Keeps a look. On a busy machine Chromium now and then says that it cannot, and then can. */
async function shot(page, name) {
  const take = () => page.screenshot({ path: join(OUT, `${name}.png`) });
  await take().catch(() => page.waitForTimeout(1000).then(take));
}

const state = (page, expression) => page.evaluate(`window.throng.${expression}`);

/** Waits for an expression to hold. Not inside the page, whose policy forbids to evaluate texts. */
async function until(page, expression, patience = 60_000) {
  const end = Date.now() + patience;
  while (!(await page.evaluate(expression))) {
    if (Date.now() > end) throw new Error(`never: ${expression}`);
    await page.waitForTimeout(30);
  }
}

const tab = (page, name) => page.click(`nav [data-tab=${name}]`);
const time = (page) => state(page, "frame.time");

/** Where a place of the map is on the screen. */
async function onScreen(page, at) {
  const box = await page.locator(".pane").first().boundingBox();
  const [x, y] = await page.evaluate((at) => window.throng.page(at), at);
  return [box.x + x, box.y + y];
}

/** Until what the page knows by now is on the screen, however slow the machine draws. */
const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Waits for a text to be shown. */
async function says(page, selector, pattern) {
  const end = Date.now() + 60_000;
  for (let text; !pattern.test((text = await page.textContent(selector))); await page.waitForTimeout(30)) {
    if (Date.now() > end) throw new Error(`${selector} never says ${pattern}, but: ${text}`);
  }
}

/** How many pixels are drawn over the crowd. */
async function inkOver(page) {
  await drawn(page);
  return page.evaluate(() => {
    const [canvas] = [...document.querySelectorAll(".pane > canvas")].slice(-1);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, place) => place % 4 === 3 && value > 0).length;
  });
}

async function drag(page, from, to) {
  const [a, b] = [await onScreen(page, from), await onScreen(page, to)];
  await page.mouse.move(...a);
  await page.mouse.down();
  await page.mouse.move((a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
  await page.mouse.move(...b);
  await page.mouse.up();
}

async function pause(page) {
  if (await state(page, "frame.playing")) await page.click("#play");
  await until(page, "!window.throng.frame.playing");
}

async function playing(page) {
  if (!(await state(page, "frame.playing"))) await page.click("#play");
  await until(page, "window.throng.frame.playing");
}

/** From the beginning: on a slow machine a run may be over before a test looks at it. */
async function begin(page) {
  const { generation } = await state(page, "scene");
  await page.click("#restart");
  await until(page, `window.throng.scene.generation > ${generation} && window.throng.frame?.step >= 0`);
  await playing(page);
}

const tests = [];
const test = (name, run) => tests.push({ name, run });
let live;

test("a scenario loads and plays by itself", async () => {
  live = await visit(await serve("crossing"));
  await until(live, "window.throng.frame?.time > 1");
  assert.equal(await state(live, "scene.opened"), "crossing");
  assert.equal(await state(live, "frame.present"), 160);
  await says(live, "#counts", /160 here/);
  await shot(live, "01-live");
});

test("pause holds time, step takes one step, play goes on", async () => {
  await begin(live);
  await pause(live);
  const held = await time(live);
  await live.waitForTimeout(400);
  assert.equal(await time(live), held);
  const step = await state(live, "frame.step");
  await live.click("#step");
  await until(live, `window.throng.frame.step === ${step + 1}`);
  await live.keyboard.press("Escape");
  await playing(live);
  await until(live, `window.throng.frame.time > ${held + 0.5}`);
});

test("speed is kept", async () => {
  await begin(live);
  await live.selectOption("#speed", "8");
  await until(live, "window.throng.frame.speed === 8");
  const [before, clock] = [await time(live), Date.now()];
  await live.waitForTimeout(1500);
  const rate = ((await time(live)) - before) / ((Date.now() - clock) / 1000);
  // A busy machine may be slower than asked for, and must not be faster.
  assert.ok(rate > 1.5 && rate < 11, `${rate}`);
});

test("a run that is over begins again, with a seed", async () => {
  await live.selectOption("#speed", "");
  await until(live, "window.throng.frame.over");
  await live.fill("#seed", "42");
  await live.click("#restart");
  await until(live, "window.throng.scene.live.seed === 42 && window.throng.frame?.step >= 0");
  await live.selectOption("#speed", "1");
  await playing(live);
});

test("a model is chosen from the catalog and a parameter set", async () => {
  await tab(live, "models");
  await live.selectOption("select[data-stage=microscale]", "hrvo");
  await until(live, "window.throng.scene.live.pipeline.microscale === 'hrvo'");
  const field = live.locator("[data-field='hrvo.max_neighbors'] input[type=number]");
  await field.fill("4");
  await field.press("Enter");
  await until(live, "window.throng.scene.live.params.hrvo?.max_neighbors === 4");
  await live.keyboard.press("Tab");
  await shot(live, "02-models");
  await live.selectOption("select[data-stage=microscale]", "orca");
  await live.selectOption("select[data-stage=macroscale]", "visibility-graph");
  await until(live, "window.throng.scene.live.pipeline.macroscale === 'visibility-graph'");
});

test("an obstacle is put in the way, and walked around", async () => {
  await begin(live);
  await pause(live);
  await tab(live, "steer");
  await live.click("[data-tool=obstacle]");
  const middle = await live.evaluate(() => {
    const [low, high] = window.throng.scene.panes[0].extent;
    return [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
  });
  const [x, y] = middle;
  await drag(live, [x - 3, y - 3], [x + 3, y + 3]);
  await until(live, "window.throng.scene.panes[0].map.obstacles.some(({ name }) => name.startsWith('added'))");
  await live.click("[data-tool=look]");
  assert.equal(await inkOver(live), 0, "nothing of the tool is left");
  await live.selectOption("#speed", "8");
  await playing(live);
  let passed = 0;
  for (let look = 0; look < 25; look++) {
    const [inside, near] = await live.evaluate(([x, y]) => {
      const places = Array.from({ length: window.throng.frame.ids }, (_, id) => window.throng.place(id)).filter(Boolean);
      const within = (reach) => places.filter((at) => Math.abs(at[0] - x) < reach && Math.abs(at[1] - y) < reach).length;
      return [within(2.8), within(5)];
    }, middle);
    assert.equal(inside, 0, "somebody is in the obstacle");
    passed = Math.max(passed, near);
    if (look === 8) await shot(live, "03-obstacle");
    await live.waitForTimeout(120);
  }
  assert.ok(passed > 3, `only ${passed} came near`);
  await live.selectOption("#speed", "1");
});

test("an agent tells its half-planes", async () => {
  await begin(live);
  await until(live, "window.throng.frame.time > 5");
  await pause(live);
  const id = await live.evaluate(() => {
    const [low, high] = window.throng.scene.panes[0].extent;
    const away = (at) => Math.hypot(at[0] - (low[0] + high[0]) / 2, at[1] - (low[1] + high[1]) / 2);
    const ids = Array.from({ length: window.throng.frame.ids }, (_, id) => id).filter((id) => window.throng.place(id));
    return ids.sort((a, b) => away(window.throng.place(a)) - away(window.throng.place(b)))[0];
  });
  const at = await state(live, `place(${id})`);
  await live.mouse.click(...(await onScreen(live, at)));
  await until(live, "window.throng.explanation?.half_planes.length > 0");
  const told = await state(live, "explanation");
  assert.equal(told.id, id);
  assert.ok(told.neighbors.length > 0);
  await says(live, "#agent", /half_planes \[\d+\]/);
  await live.click("#agent summary:has-text('half_planes')");
  await live.waitForSelector("#agent [data-path='half_planes.0']");
  assert.ok((await inkOver(live)) > 50, "its way and its neighbours are drawn");
  const inked = await live.evaluate(() => {
    const canvas = document.getElementById("inset");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, place) => place % 4 === 3 && value > 0).length / (data.length / 4);
  });
  assert.ok(inked > 0.1, `${inked}`);
  await shot(live, "04-agent");
});

test("an agent's field of perception is drawn", async () => {
  const page = await visit(await serve("hybrid-cohesive"));
  await until(page, "window.throng.frame?.time > 8");
  await pause(page);
  const place = await state(page, "place(0)");
  await page.mouse.click(...(await onScreen(page, place)));
  await until(page, "window.throng.explanation?.field?.potential.length === 16");
  await page.click("#fit");
  await page.mouse.move(...(await onScreen(page, place)));
  for (let turn = 0; turn < 6; turn++) await page.mouse.wheel(0, -200);
  assert.ok((await inkOver(page)) > 20_000, "its cells cover some of the map");
  await shot(page, "04-field");
  await page.context().close();
});

test("an agent's plans in all domains are drawn", async () => {
  const page = await visit(await serve("multi-domain-four-way"));
  await until(page, "window.throng.frame?.time > 6");
  await pause(page);
  // Somebody whose plan took a search.
  const found = await page.evaluate(async () => {
    for (let id = 0; id < window.throng.frame.ids; id++) {
      window.throng.select(id);
      for (let wait = 0; wait < 50 && window.throng.explanation?.id !== id; wait++) await new Promise((done) => setTimeout(done, 20));
      if (window.throng.explanation?.tasks?.[3]?.seen.length > 50) return id;
    }
    return null;
  });
  assert.notEqual(found, null, "somebody has to search");
  const tasks = await state(page, "explanation.tasks");
  assert.deepEqual(tasks.map(({ domain }) => domain), ["navmesh", "dynamic-navmesh", "grid", "space-time"]);
  assert.equal(tasks[3].times.length, tasks[3].plan.length);
  await says(page, ".key", /plan: space-time/);
  assert.ok((await inkOver(page)) > 100, "plans are drawn");
  await shot(page, "04-plans");
  await page.context().close();
});

test("footprints and gaps are drawn", async () => {
  const page = await visit(await serve("multi-domain-stepping-stones"));
  await until(page, "window.throng.frame?.time > 3");
  await pause(page);
  assert.ok((await state(page, "scene.panes[0].map.gaps.length")) > 3);
  const place = await state(page, "place(0)");
  await page.mouse.click(...(await onScreen(page, place)));
  await until(page, "window.throng.explanation?.tasks?.[4]?.prints.length > 2");
  assert.ok((await inkOver(page)) > 100, "feet are drawn");
  await shot(page, "04-feet");
  await page.context().close();
});

test("the camera follows an agent, zooms to the cursor and fits", async () => {
  await live.check("#follow");
  await playing(live);
  await until(live, `window.throng.frame.time > ${(await time(live)) + 0.5}`);
  // Held, so that where it is and where it is drawn are of one moment.
  await pause(live);
  await drawn(live);
  const box = await live.locator(".pane").boundingBox();
  const id = await state(live, "explanation.id");
  const [x, y] = await onScreen(live, await state(live, `place(${id})`));
  assert.ok(Math.hypot(x - box.x - box.width / 2, y - box.y - box.height / 2) < 12, `${x} ${y}`);
  await live.uncheck("#follow");
  const [px, py] = [box.x + 200, box.y + 150];
  const world = (at) => live.evaluate(([x, y]) => {
    const [a, b] = [window.throng.page([0, 0]), window.throng.page([1, 1])];
    return [(x - a[0]) / (b[0] - a[0]), (y - a[1]) / (b[1] - a[1])];
  }, at);
  const before = await world([200, 150]);
  await live.mouse.move(px, py);
  await live.mouse.wheel(0, -600);
  await drawn(live);
  const after = await world([200, 150]);
  assert.ok(Math.hypot(after[0] - before[0], after[1] - before[1]) < 1e-6);
  await shot(live, "05-zoomed");
  await live.click("#fit");
});

test("people are dropped, sent, and obstacles taken away", async () => {
  await tab(live, "steer");
  await live.click("[data-tool=drop]");
  await live.fill("#count", "15");
  const ids = await state(live, "frame.ids");
  const [low, high] = await state(live, "scene.panes[0].extent");
  const corner = [low[0] + 2, high[1] - 2];
  await live.mouse.click(...(await onScreen(live, corner)));
  await until(live, `window.throng.frame.ids === ${ids + 15}`);
  await live.click("[data-tool=send]");
  await live.mouse.click(...(await onScreen(live, [low[0] + 3, low[1] + 3])));
  await until(live, `window.throng.scene.panes[0].goals.some(({ cohort, at }) => cohort === 0 && Math.abs(at[0][0] - ${low[0] + 3}) < 0.5)`);
  await live.click("[data-tool=goal]");
  await drag(live, [low[0] + 3, low[1] + 3], [low[0] + 6, low[1] + 3]);
  await until(live, `window.throng.scene.panes[0].goals.some(({ cohort, at }) => cohort === 0 && Math.abs(at[0][0] - ${low[0] + 6}) < 0.5)`);
  await live.click("[data-tool=remove]");
  await drag(live, [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2], [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2]);
  await until(live, "!window.throng.scene.panes[0].map.obstacles.some(({ name }) => name.startsWith('added'))");
  await shot(live, "06-steer");
  await live.click("[data-tool=look]");
});

test("colours, trails, heat maps, dark", async () => {
  await live.selectOption("#open", "density-crossing-600");
  await until(live, "window.throng.scene.opened === 'density-crossing-600' && window.throng.frame?.present > 500");
  assert.equal(await inkOver(live), 0, "nothing of the scene before is left");
  await tab(live, "charts");
  await live.check("#trails");
  await live.selectOption("#speed", "8");
  await until(live, "window.throng.frame.time > 25 && window.throng.samples > 5");
  await live.selectOption("#colour", "speed");
  await drawn(live);
  await shot(live, "07-speed-trails");
  await live.uncheck("#trails");
  for (const [colour, heat] of [["density", "density"], ["delay", "flow"], ["cohort", "none"]]) {
    await live.selectOption("#colour", colour);
    await live.selectOption("#heat", heat);
    await drawn(live);
    await shot(live, `08-${colour}-${heat}`);
  }
  await live.click("#theme");
  await live.selectOption("#heat", "density");
  await drawn(live);
  await shot(live, "09-dark");
  await live.selectOption("#heat", "none");
});

/** Processor time of a process so far, s. Linux tells it in hundredths. */
function busy(id) {
  const figures = readFileSync(`/proc/${id}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(figures[11]) + Number(figures[12])) / 100;
}

test("a page whose time is held takes next to nothing, and so does its server", async () => {
  const page = await visit(await serve("crossing"));
  const server = servers.at(-1).pid;
  await until(page, "window.throng.frame?.time > 3");
  await page.evaluate(() => window.throng.select(40));
  await until(page, "window.throng.explanation?.id === 40");
  await pause(page);
  await page.waitForTimeout(1000);
  const metrics = await page.context().newCDPSession(page);
  await metrics.send("Performance.enable");
  const task = async () => (await metrics.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
  const [draws, tasks, served] = [await state(page, "draws"), await task(), busy(server)];
  await page.waitForTimeout(5000);
  const shares = { page: ((await task()) - tasks) / 5, server: (busy(server) - served) / 5 };
  assert.equal(await state(page, "draws"), draws, "it draws though nothing has changed");
  assert.ok(shares.page < 0.02 && shares.server < 0.02, JSON.stringify(shares));
  console.log(`        of a core: ${JSON.stringify(shares)}`);
  // And wakes up by itself.
  await page.click("#step");
  await until(page, `window.throng.draws > ${draws}`);
  await page.context().close();
});

test("frames cost at most eight bytes for each agent", async () => {
  assert.ok((await state(live, "bytesPerAgent")) <= 8, `${await state(live, "bytesPerAgent")}`);
});

test("a second tab shows the same, and both can steer", async () => {
  const second = await visit(live.url());
  await until(second, "window.throng.frame?.ids > 0");
  await pause(second);
  await until(live, "!window.throng.frame.playing");
  await until(live, `window.throng.frame.step === ${await state(second, "frame.step")}`);
  await second.context().close();
});

test("a phone's width", async () => {
  const phone = await visit(live.url(), { viewport: { width: 390, height: 844 }, hasTouch: true });
  await until(phone, "window.throng.frame?.ids > 0");
  const wide = await phone.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `${wide}`);
  await phone.click("#fit");
  await drawn(phone);
  await shot(phone, "10-phone");
  await phone.context().close();
});

test("a recorded run is opened, scrubbed and played", async () => {
  assert.equal((await throng("run", "corridor", "--record", "a.sqlite", "--set", "expect={}")).code, 0);
  assert.equal((await throng("run", "corridor", "--record", "b.csv", "--seed", "9", "--microscale", "hrvo", "--set", "expect={}")).code, 0);
  const page = await visit(await serve("a.sqlite"));
  await until(page, "window.throng.frame?.time > 0.3 && window.throng.samples === 300");
  await pause(page);
  await page.locator("#scrub").evaluate((input) => {
    input.value = "12";
    input.dispatchEvent(new Event("input"));
  });
  await until(page, "Math.abs(window.throng.frame.time - 12) < 0.05");
  await drawn(page);
  await shot(page, "11-recorded");
  await page.click("#step");
  await until(page, "window.throng.frame.time > 12.05");
  await playing(page);
  await until(page, "window.throng.frame.time > 12.5");
  await page.context().close();
});

test("two runs stand side by side", async () => {
  const page = await visit(await serve("a.sqlite", "b.csv"));
  await until(page, "window.throng.frame?.time > 3");
  assert.equal(await page.locator(".pane").count(), 2);
  await drawn(page);
  await shot(page, "12-side-by-side");
  await page.context().close();
});

test("a scenario that fails to load is told in the page", async () => {
  writeFileSync(join(folder, "broken.toml"), 'format = 1\n[pipeline]\nmicroscale = "orka"\n');
  const page = await visit(await serve("broken.toml"));
  await page.waitForSelector("#message:not([hidden])");
  await says(page, "#message", /did you mean `orca`/);
  await shot(page, "13-broken");
  await page.selectOption("#open", "mover");
  await until(page, "window.throng.frame?.present > 0");
  await page.waitForSelector("#message", { state: "hidden" });
  await page.context().close();
});

test("a port in use ends with 2 and a message", async () => {
  const port = new URL(live.url()).port;
  const { code, err } = await throng("view", "mover", "--no-open", "--port", port);
  assert.equal(code, 2);
  assert.match(err, new RegExp(`port ${port} is in use`));
});

test("a film plays", async () => {
  assert.equal((await throng("render", "a.sqlite", "-o", "a.mp4", "--to", "6", "--size", "640x360")).code, 0);
  const film = readFileSync(join(folder, "a.mp4")).toString("base64");
  const page = await (await browser.newContext()).newPage();
  const [width, duration] = await page.evaluate(async (film) => {
    const video = document.createElement("video");
    video.muted = true;
    video.src = `data:video/mp4;base64,${film}`;
    document.body.append(video);
    await new Promise((resolve, reject) => {
      video.oncanplay = resolve;
      video.onerror = () => reject(video.error.message);
    });
    await video.play();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return [video.videoWidth, video.duration];
  }, film);
  assert.equal(width, 640);
  assert.ok(Math.abs(duration - 6) < 0.2, `${duration}`);
  await page.screenshot({ path: join(OUT, "14-film.png") });
  await page.context().close();
});

test("no error in the console", async () => assert.deepEqual(complaints, []));

let failed = 0;
for (const { name, run } of tests) {
  const begin = Date.now();
  try {
    await run();
    console.log(`ok      ${name} (${Date.now() - begin} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n${error.stack ?? error}`);
    if (live) await shot(live, `failed-${failed}`).catch(() => {});
  }
}
console.log(`${tests.length - failed} passed, ${failed} failed, 0 ignored, 0 skipped`);
await browser.close();
servers.forEach((child) => child.kill());
rmSync(folder, { recursive: true, force: true });
process.exit(failed ? 1 : 0);
