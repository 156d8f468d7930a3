import { Agent } from "./agent";
import { Camera } from "./camera";
import { Charts } from "./charts";
import { Link } from "./link";
import type { Hello, Message, Point, Scene } from "./messages";
import { Models } from "./models";
import { type Look, Pane } from "./pane";
import { Steer } from "./steer";
import "./style.css";
import * as wire from "./wire";

const find = <E extends HTMLElement>(id: string) => document.getElementById(id) as E;
const [panesBox, message] = [find("panes"), find("message")];
const [open, speed] = [find<HTMLSelectElement>("open"), find<HTMLSelectElement>("speed")];
const [play, scrub, seed] = [find<HTMLButtonElement>("play"), find<HTMLInputElement>("scrub"), find<HTMLInputElement>("seed")];

const look: Look = { colour: "cohort", heat: "none", trails: false };
const camera = new Camera();
let hello: Hello | undefined;
let scene: Scene | undefined;
let panes: Pane[] = [];
let fitted = -1;
/** When the selected agent was asked last, and about which moment. */
let asked = { at: -Infinity, about: "" };
let bytes = 0;
let frames = 0;
let draws = 0;

const link = new Link(take, takeBinary, (connected) => {
  if (!connected) return complain("The server is gone. The page comes back when it does.");
  message.hidden = true;
  // What was asked of the server that has gone is not answered any more.
  asked.about = "";
});
const send = (order: { do: string; [key: string]: unknown }) => link.send(order);
const charts = new Charts(find("charts"), (time) => scene?.mode === "recorded" && send({ do: "seek", time }));
const models = new Models(find("models"), send);
const steer = new Steer(find("steer"), send, (tool) => panes.forEach(({ element }) => (element.dataset.tool = tool)));
const agent = new Agent(find("agent"), () => select(undefined));

function take(news: Message): void {
  wake();
  switch (news.type) {
    case "hello":
      hello = news;
      listScenes(news);
      models.show(hello, scene?.live ?? null);
      break;
    case "scene":
      showScene(news);
      break;
    case "samples":
      charts.take(news.pane, news.anew, news.samples);
      break;
    case "explanation":
      explain(news.id, news.explanation);
      break;
    case "error":
      complain(news.message);
  }
}

function takeBinary(buffer: ArrayBuffer): void {
  wake();
  if (wire.kind(buffer) === 2) {
    const statics = wire.statics(buffer);
    panes[statics.pane]?.know(statics);
    return;
  }
  const frame = wire.frame(buffer);
  frames += 1;
  bytes = frame.bytes / Math.max(frame.present, 1);
  panes[frame.pane]?.take(frame);
  if (frame.pane === 0) showFrame(frame);
}

let quiet: ReturnType<typeof setTimeout>;
function complain(text: string): void {
  message.textContent = text;
  message.hidden = false;
  clearTimeout(quiet);
  // What was refused is soon forgotten; that nothing can be shown stays.
  if (scene?.mode !== "nothing") quiet = setTimeout(() => (message.hidden = true), 6000);
}

function listScenes({ given, scenarios }: Hello): void {
  open.replaceChildren();
  const group = (label: string, options: HTMLOptionElement[]) => {
    const box = document.createElement("optgroup");
    box.label = label;
    box.append(...options);
    if (options.length) open.append(box);
  };
  group("given", given.map((name) => new Option(name, name)));
  for (const folder of new Set(scenarios.map((scenario) => scenario.folder))) {
    group(folder, scenarios.filter((scenario) => scenario.folder === folder).map(({ name, about }) => Object.assign(new Option(name, name), { title: about })));
  }
  if (scene) open.value = scene.opened;
}

function showScene(news: Scene): void {
  const fresh = scene?.generation !== news.generation || panes.length !== news.panes.length;
  scene = news;
  if (panes.length !== news.panes.length) {
    panesBox.replaceChildren();
    panes = news.panes.map(() => addPane());
    resize();
  }
  news.panes.forEach((pane, place) => panes[place].show(pane, news.generation));
  charts.panes(Math.max(news.panes.length, 1));
  models.show(hello, news.live);
  steer.show(news);
  open.value = news.opened;
  find("again").hidden = news.mode !== "live";
  scrub.hidden = news.mode !== "recorded";
  scrub.max = String(news.duration ?? 1);
  const fastest = [...speed.options].find(({ value }) => value === "");
  if (fastest) fastest.disabled = news.mode === "recorded";
  if (news.live && document.activeElement !== seed) seed.value = String(news.live.seed);
  if (fresh) agent.clear();
  if (fresh && news.panes.length && fitted !== news.generation) {
    // A restart of the same scene keeps the view.
    const same = fitted >= 0 && news.opened === document.body.dataset.opened;
    if (!same) fit();
    fitted = news.generation;
    document.body.dataset.opened = news.opened;
  }
  if (news.error) complain(news.error);
  else if (fresh) message.hidden = true;
}

function addPane(): Pane {
  const pane = new Pane(camera, look);
  pane.element.dataset.tool = steer.tool;
  panesBox.append(pane.element);
  point(pane);
  return pane;
}

function fit(): void {
  const extents = scene?.panes.map(({ extent }) => extent) ?? [];
  if (!extents.length) return;
  const edge = (end: 0 | 1, axis: 0 | 1) => Math[end ? "max" : "min"](...extents.map((extent) => extent[end][axis]));
  camera.fit([[edge(0, 0), edge(0, 1)], [edge(1, 0), edge(1, 1)]]);
}

/** Signs of the play button, drawn because fonts lack some of them. */
const SIGNS: Record<string, string> = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  again: "M8 3V0L4 4l4 4V5a4 4 0 1 1-4 4H2a6 6 0 1 0 6-6z",
};

function showPlay(sign: string): void {
  if (play.dataset.sign === sign) return;
  play.dataset.sign = sign;
  play.setAttribute("aria-label", sign);
  play.innerHTML = `<svg viewBox="0 0 16 16" width="14" height="14" fill="currentColor"><path d="${SIGNS[sign]}"/></svg>`;
}

function showFrame(frame: wire.Frame): void {
  showPlay(frame.playing ? "pause" : frame.over ? "again" : "play");
  find("time").textContent = `${frame.time.toFixed(1)} s`;
  const all = scene?.mode === "recorded" ? `${frame.arrived} have left` : `${frame.arrived} arrived`;
  find("counts").textContent = `${frame.present} here · ${all}`;
  if (document.activeElement !== scrub || frame.playing) scrub.value = String(frame.time);
  const value = frame.fastest ? "" : String(frame.speed);
  if (document.activeElement !== speed && [...speed.options].some((option) => option.value === value)) speed.value = value;
}

function select(id: number | undefined, pane = panes[0]): void {
  for (const each of panes) {
    each.selected = each === pane ? id : undefined;
    each.explanation = undefined;
    each.restyle();
  }
  if (id === undefined) {
    agent.clear();
    return;
  }
  tab("agent");
  asked.at = -Infinity;
  wake();
}

const cohortName = (id: number, pane: Pane) => pane.scene.cohorts[pane.cohort(id)]?.name ?? "";

function showRecorded(id: number, pane: Pane): void {
  agent.recorded(id, cohortName(id, pane), pane.speedOf(id));
}

/** Asks the selected agent about this moment, unless it was asked just before. */
function ask(pane: Pane): void {
  const { selected, frame } = pane;
  const about = [selected, scene?.generation, frame?.step, frame?.time].join();
  if (about === asked.about) return;
  const wait = asked.at + 250 - performance.now();
  if (wait > 0) {
    // A crowd that moves wakes the page by itself.
    if (!frame?.playing) setTimeout(wake, wait);
    return;
  }
  asked = { at: performance.now(), about };
  if (scene?.mode === "recorded") showRecorded(selected!, pane);
  else send({ do: "explain", id: selected });
}

function explain(id: number, explanation: Pane["explanation"] | null): void {
  const pane = panes.find(({ selected }) => selected === id);
  if (!pane) return;
  if (!explanation) {
    select(undefined);
    complain(`Agent ${id} has left.`);
    return;
  }
  pane.explanation = explanation;
  pane.restyle();
  agent.show(explanation, cohortName(id, pane));
}

function point(pane: Pane): void {
  const { element } = pane;
  const pointers = new Map<number, Point>();
  let [travelled, tooling] = [0, false];
  const place = (event: MouseEvent): Point => {
    const box = element.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, place(event));
    travelled = 0;
    tooling = steer.busy && event.button === 0 && pointers.size === 1;
    if (tooling) steer.down(pane, camera.toWorld(place(event)));
  });
  element.addEventListener("pointermove", (event) => {
    const [before, now] = [pointers.get(event.pointerId), place(event)];
    if (!before) return;
    travelled += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (tooling && pointers.size === 1) steer.move(pane, camera.toWorld(now));
    else if (pointers.size === 1) {
      if (travelled > 3) {
        camera.pan(now[0] - before[0], now[1] - before[1]);
        agent.follow.checked = false;
      }
    } else {
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const apart = (at: Point) => Math.max(Math.hypot(at[0] - other[0], at[1] - other[1]), 10);
      camera.zoom([(now[0] + other[0]) / 2, (now[1] + other[1]) / 2], apart(now) / apart(before));
    }
    pointers.set(event.pointerId, now);
  });
  const end = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId)) return;
    if (tooling) steer.up(pane, camera.toWorld(place(event)));
    else if (travelled <= 3 && event.type === "pointerup") select(pane.pick(place(event)), pane);
    tooling = false;
  };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", end);
  element.addEventListener("wheel", (event) => {
    event.preventDefault();
    camera.zoom(place(event), Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)));
  }, { passive: false });
}

function tab(name: string): void {
  for (const button of document.querySelectorAll<HTMLElement>("nav button")) {
    button.setAttribute("aria-selected", String(button.dataset.tab === name));
    find(button.dataset.tab!).hidden = button.dataset.tab !== name;
  }
}

function theme(name: string): void {
  document.documentElement.dataset.theme = name;
  panes.forEach((pane) => pane.restyle());
  charts.restyle();
}

function resize(): void {
  wake();
  panes.forEach((pane) => pane.resize());
  charts.restyle();
}

let awake = false;

/** Draws soon. Nothing is drawn, and nothing looked at, where neither the server nor the user did anything. */
function wake(): void {
  if (!awake) requestAnimationFrame(draw);
  awake = true;
}

function draw(): void {
  awake = false;
  draws += 1;
  const follower = panes.find(({ selected }) => selected !== undefined);
  if (follower) {
    ask(follower);
    const at = agent.follow.checked && follower.place(follower.selected!);
    if (at) camera.middle = at;
  }
  panes.forEach((pane) => pane.draw());
  charts.at(panes[0]?.frame?.time ?? 0);
  if (panes.some((pane) => pane.moving)) wake();
}

const toggle = () => send({ do: panes[0]?.frame?.playing ? "pause" : "play" });
play.onclick = toggle;
find("step").onclick = () => send({ do: "step" });
find("restart").onclick = () => send({ do: "restart", seed: Math.max(0, Math.round(seed.valueAsNumber || 0)) });
find("fit").onclick = fit;
find("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
open.onchange = () => send({ do: "open", name: open.value });
speed.onchange = () => {
  send({ do: "speed", times: speed.value === "" ? null : Number(speed.value) });
  speed.blur();
};
scrub.oninput = () => send({ do: "seek", time: scrub.valueAsNumber });
find<HTMLSelectElement>("colour").onchange = ({ target }) => {
  look.colour = (target as HTMLSelectElement).value;
  panes.forEach((pane) => pane.restyle());
};
find<HTMLSelectElement>("heat").onchange = ({ target }) => {
  look.heat = (target as HTMLSelectElement).value;
  panes.forEach((pane) => pane.restyle());
};
find<HTMLInputElement>("trails").onchange = ({ target }) => (look.trails = (target as HTMLInputElement).checked);
for (const button of document.querySelectorAll<HTMLElement>("nav button")) button.onclick = () => tab(button.dataset.tab!);
window.addEventListener("resize", resize);
window.addEventListener("keydown", (event) => {
  if (event.target instanceof HTMLElement && event.target.matches("input, select, button")) return;
  if (event.key === " ") {
    event.preventDefault();
    toggle();
  }
  if (event.key === ".") send({ do: "step" });
  if (event.key === "f") fit();
});
showPlay("play");
theme(window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
new ResizeObserver(resize).observe(panesBox);
for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel", "wheel", "click", "input", "change", "keydown"]) {
  window.addEventListener(kind, wake, { capture: true, passive: true });
}
wake();

/** What tests look at. */
Object.assign(window, {
  throng: {
    get scene() { return scene; },
    get frame() { return panes[0]?.frame; },
    get frames() { return frames; },
    get draws() { return draws; },
    get bytesPerAgent() { return bytes; },
    get samples() { return charts.count; },
    get explanation() { return panes[0]?.explanation; },
    place: (id: number, pane = 0) => panes[pane]?.place(id),
    page: (at: Point) => camera.toPage(at),
    radius: (id: number) => panes[0]?.radius(id),
    select: (id: number) => select(id),
  },
});
