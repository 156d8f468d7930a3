// One crowd on the page: map, bodies, and what is drawn over them.

import type { Camera } from "./camera";
import * as colours from "./colours";
import { Crowd } from "./crowd";
import * as heat from "./heat";
import type { Explanation, PaneScene, Point, Ring } from "./messages";
import { type Frame, NOWHERE, type Statics } from "./wire";

export interface Look { colour: string; heat: string; trails: boolean }

/** Ends of the ramps. */
const TOP_DELAY = 30;
/** A piece of a trail is as long as this, s. */
const PIECE = 0.25;
/** Half the width of tunnels that are drawn, m. */
const WIDEST_TUNNEL = 50;
const EMPTY: PaneScene = { name: "", cohorts: [], map: { walkable: [], obstacles: [], walls: [], gaps: [] }, extent: [[-5, -5], [5, 5]], goals: [] };

export class Pane {
  readonly element = document.createElement("div");
  scene: PaneScene = EMPTY;
  frame?: Frame;
  selected?: number;
  explanation?: Explanation;
  /** What a tool is about to do, drawn over everything. */
  preview?: (context: CanvasRenderingContext2D) => void;
  private readonly map: CanvasRenderingContext2D;
  private readonly over: CanvasRenderingContext2D;
  private readonly crowd: Crowd;
  private readonly title = document.createElement("h2");
  private readonly key = document.createElement("div");
  private statics?: Statics;
  private origin: Point = [0, 0];
  private before = new Float32Array(0);
  private now = new Float32Array(0);
  private heading = new Uint8Array(0);
  private speed = new Float32Array(0);
  private delay = new Float32Array(0);
  private tint = new Uint8Array(0);
  private arrived = 0;
  private interval = 50;
  private remembered = -Infinity;
  private generation = -1;
  private mapDrawn = "";
  private heatDrawn = 0;
  private keyShown = "";
  private shown = "";
  private changed = true;
  private palette = "";
  private overDrawn = false;
  /** Upper ends of the density and flow ramps. */
  private tops = { density: 0.5, flow: 0.5 };

  constructor(readonly camera: Camera, private readonly look: Look) {
    this.element.className = "pane";
    const canvases = [0, 1, 2].map(() => this.element.appendChild(document.createElement("canvas")));
    this.key.className = "key";
    this.element.append(this.title, this.key);
    this.map = canvases[0].getContext("2d")!;
    this.crowd = new Crowd(canvases[1]);
    this.over = canvases[2].getContext("2d")!;
  }

  show(scene: PaneScene, generation: number): void {
    this.scene = scene;
    this.title.textContent = scene.name;
    if (generation !== this.generation) {
      this.generation = generation;
      this.frame = undefined;
      this.explanation = undefined;
      this.selected = undefined;
      this.origin = [(scene.extent[0][0] + scene.extent[1][0]) / 2, (scene.extent[0][1] + scene.extent[1][1]) / 2];
      this.crowd.forget();
      this.crowd.setPlaces(new Float32Array(0), new Float32Array(0), new Uint8Array(0));
      [this.before, this.now, this.heading] = [new Float32Array(0), new Float32Array(0), new Uint8Array(0)];
    }
    this.restyle();
  }

  know(statics: Statics): void {
    this.statics = statics;
    this.crowd.setRadii(Float32Array.from(statics.radius, (mm) => mm / 1000));
    this.recolour();
  }

  /** Colours have changed. */
  restyle(): void {
    this.changed = true;
    this.palette = "";
    this.mapDrawn = "";
    this.keyShown = "";
    this.recolour();
  }

  take(frame: Frame): void {
    if (frame.generation !== this.generation) return;
    const last = this.frame;
    const { ids } = frame;
    const [corner, unit] = [frame.corner, frame.unit];
    const shift = [corner[0] - this.origin[0], corner[1] - this.origin[1]];
    const jump = !last || Math.abs(frame.time - last.time) > 2 || frame.time < last.time;
    this.before = this.now;
    this.now = new Float32Array(2 * ids).fill(NOWHERE);
    this.heading = new Uint8Array(ids);
    this.speed = new Float32Array(ids);
    this.delay = new Float32Array(ids);
    let row = 0;
    for (let id = 0; id < ids; id++) {
      if (!((frame.bits[id >> 3] >> (id & 7)) & 1)) continue;
      this.now[2 * id] = frame.x[row] * unit[0] + shift[0];
      this.now[2 * id + 1] = frame.y[row] * unit[1] + shift[1];
      this.heading[id] = frame.heading[row];
      this.speed[id] = frame.velocity[row] * frame.speedUnit;
      this.delay[id] = frame.delay[row] * frame.delayUnit;
      row += 1;
    }
    if (jump || this.before.length === 0) this.before = this.now;
    if (this.before.length < this.now.length) {
      const longer = this.now.slice();
      longer.set(this.before);
      this.before = longer;
    }
    // Whoever has just come begins where it is.
    if (this.before !== this.now) {
      for (let id = 0; id < ids; id++) {
        if (this.before[2 * id] >= NOWHERE || this.now[2 * id] >= NOWHERE) {
          this.before[2 * id] = this.now[2 * id];
          this.before[2 * id + 1] = this.now[2 * id + 1];
        }
      }
    }
    const arrival = performance.now();
    if (last && !jump) this.interval = 0.8 * this.interval + 0.2 * Math.min(Math.max(arrival - this.arrived, 15), 250);
    this.arrived = arrival;
    this.frame = frame;
    this.crowd.setPlaces(this.before, this.now, this.heading);
    if (jump) {
      this.crowd.forget();
      this.remembered = -Infinity;
    }
    if (frame.time - this.remembered >= PIECE) {
      this.remembered = frame.time;
      this.crowd.remember(this.now);
    }
    this.recolour();
  }

  /** How far between the last two frames the picture is. */
  private share(): number {
    if (!this.frame?.playing) return 1;
    return Math.min((performance.now() - this.arrived) / this.interval, 1);
  }

  /** Whether the picture is still on its way from one frame to the next. */
  get moving(): boolean {
    return this.share() < 1;
  }

  get ids(): number {
    return this.heading.length;
  }

  /** Where an agent is drawn, m; nothing where it is not there. */
  place(id: number): Point | undefined {
    if (id >= this.ids || this.now[2 * id] >= NOWHERE) return undefined;
    const share = this.share();
    const along = (axis: number) => this.before[2 * id + axis] + (this.now[2 * id + axis] - this.before[2 * id + axis]) * share;
    return [along(0) + this.origin[0], along(1) + this.origin[1]];
  }

  radius(id: number): number {
    return (this.statics?.radius[id] ?? 250) / 1000;
  }

  cohort(id: number): number {
    return this.statics?.cohort[id] ?? 0;
  }

  speedOf(id: number): number {
    return this.speed[id] ?? 0;
  }

  /** The agent nearest to a point of the page, if one is near. */
  pick(page: Point): number | undefined {
    const [x, y] = this.camera.toWorld(page);
    let [best, least] = [undefined as number | undefined, Infinity];
    for (let id = 0; id < this.ids; id++) {
      const place = this.place(id);
      if (!place) continue;
      const away = Math.hypot(place[0] - x, place[1] - y);
      if (away < least && away < Math.max(1.3 * this.radius(id), 12 / this.camera.scale)) [best, least] = [id, away];
    }
    return best;
  }

  resize(): void {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.element;
    this.camera.size = [Math.max(clientWidth, 1), Math.max(clientHeight, 1)];
    for (const canvas of this.element.querySelectorAll<HTMLCanvasElement>(":scope > canvas")) {
      canvas.width = Math.max(1, Math.round(clientWidth * ratio));
      canvas.height = Math.max(1, Math.round(clientHeight * ratio));
    }
    this.mapDrawn = "";
    this.changed = true;
  }

  /** Draws what has changed since the last time; a crowd that stands costs nothing. */
  draw(): void {
    const { camera, look } = this;
    const shown = [camera.middle, camera.scale, camera.size, look.colour, look.heat, look.trails, this.frame?.step, this.frame?.time, this.share(), this.selected].join();
    if (shown === this.shown && !this.preview && !this.changed) return;
    this.shown = shown;
    this.changed = this.preview !== undefined;
    this.drawMap();
    const floor = colours.isDark() ? ([26, 30, 36] as colours.Rgb) : ([255, 255, 255] as colours.Rgb);
    this.crowd.draw(this.camera, this.origin, this.share(), this.look.trails, floor);
    this.drawOver();
    this.showKey();
  }

  private prepare(context: CanvasRenderingContext2D): void {
    const { canvas } = context;
    // Empties it. After `clearRect` and nothing else, Chromium went on to show what was there before.
    canvas.width = canvas.width;
    const ratio = canvas.width / this.camera.size[0];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  private drawMap(): void {
    const { camera, look } = this;
    const state = JSON.stringify([camera.middle, camera.scale, camera.size, look.heat, colours.isDark()]);
    const heatDue = look.heat !== "none" && performance.now() - this.heatDrawn > 200;
    if (state === this.mapDrawn && !heatDue) return;
    this.mapDrawn = state;
    const context = this.map;
    this.prepare(context);
    const { walkable, obstacles, walls, gaps } = this.scene.map;
    const trace = (rings: Ring[], closed = true) => {
      context.beginPath();
      for (const ring of rings) {
        ring.forEach((corner, place) => (place ? context.lineTo(...camera.toPage(corner)) : context.moveTo(...camera.toPage(corner))));
        if (closed) context.closePath();
      }
    };
    trace(walkable.flat());
    context.fillStyle = colours.theme("floor");
    context.fill("evenodd");
    trace(gaps);
    context.fillStyle = colours.theme("gap");
    context.fill();
    if (look.heat !== "none" && this.ids > 0) {
      this.heatDrawn = performance.now();
      const grid = this.grid();
      heat.draw(context, camera, grid, look.heat, look.heat === "flow" ? this.tops.flow : this.tops.density);
    }
    trace(walkable.flat());
    context.strokeStyle = colours.theme("wall-edge");
    context.lineJoin = "round";
    context.lineWidth = 2;
    context.stroke();
    trace(obstacles.map(({ ring }) => ring));
    context.fillStyle = colours.theme("wall");
    context.fill();
    context.lineWidth = 1.2;
    context.stroke();
    trace(walls, false);
    context.lineWidth = 2;
    context.stroke();
    this.drawGoals(context);
    this.drawScale(context);
  }

  private grid(): heat.Grid {
    const { origin, now: at, heading, speed } = this;
    const grid = heat.gathered({ origin, at, heading, speed }, this.scene.extent);
    this.tops = { density: heat.top(grid.density, this.tops.density), flow: heat.top(heat.strength(grid), this.tops.flow) };
    return grid;
  }

  private drawGoals(context: CanvasRenderingContext2D): void {
    for (const { cohort, at } of this.scene.goals) {
      const colour = colours.cohort(cohort);
      context.strokeStyle = colours.css(colour);
      context.lineWidth = 1.6;
      context.beginPath();
      const points = at.map((point) => this.camera.toPage(point));
      if (points.length > 1) {
        points.forEach((point, place) => (place ? context.lineTo(...point) : context.moveTo(...point)));
        context.closePath();
        context.fillStyle = colours.css(colour, 0.12);
        context.fill();
        context.setLineDash([5, 4]);
        context.stroke();
        context.setLineDash([]);
        continue;
      }
      const [[x, y]] = points;
      // Many must not cover those who go there.
      const many = this.scene.goals.length > 40;
      const arm = many ? 2.5 : 5;
      context.globalAlpha = many ? 0.45 : 1;
      context.moveTo(x - arm, y - arm);
      context.lineTo(x + arm, y + arm);
      context.moveTo(x - arm, y + arm);
      context.lineTo(x + arm, y - arm);
      context.stroke();
      context.globalAlpha = 1;
    }
  }

  private drawScale(context: CanvasRenderingContext2D): void {
    const most = 140 / this.camera.scale;
    const power = 10 ** Math.floor(Math.log10(most));
    const metres = [5, 2, 1].map((step) => step * power).find((step) => step <= most) ?? power;
    const [left, y, length] = [14, this.camera.size[1] - 14, metres * this.camera.scale];
    context.strokeStyle = context.fillStyle = colours.theme("ink");
    context.lineWidth = 1.6;
    context.beginPath();
    context.moveTo(left, y - 5);
    context.lineTo(left, y);
    context.lineTo(left + length, y);
    context.lineTo(left + length, y - 5);
    context.stroke();
    context.font = "12px system-ui, sans-serif";
    context.fillText(metres >= 1000 ? `${metres / 1000} km` : `${metres} m`, left + length + 8, y);
  }

  private drawOver(): void {
    const { over: context, camera } = this;
    const movers = this.frame?.movers ?? [];
    const something = movers.length > 0 || this.selected !== undefined || this.preview !== undefined;
    if (something || this.overDrawn) this.prepare(context);
    this.overDrawn = something;
    for (let place = 0; place + 2 < movers.length; place += 3) {
      const at: Point = [movers[place] + this.frame!.corner[0], movers[place + 1] + this.frame!.corner[1]];
      context.beginPath();
      context.arc(...camera.toPage(at), Math.max(movers[place + 2] * camera.scale, 2), 0, 2 * Math.PI);
      context.fillStyle = colours.theme("faint");
      context.fill();
      context.strokeStyle = colours.theme("ink");
      context.lineWidth = 1.5;
      context.stroke();
    }
    if (this.selected !== undefined) this.drawSelected(context, this.selected);
    this.preview?.(context);
  }

  private drawSelected(context: CanvasRenderingContext2D, id: number): void {
    const at = this.place(id);
    if (!at) return;
    for (const [field, drawer] of Object.entries(ON_MAP)) {
      const value = this.explanation?.[field];
      if (value !== undefined && value !== null) drawer(context, this, value, at);
    }
    context.beginPath();
    context.arc(...this.camera.toPage(at), Math.max(this.radius(id) * this.camera.scale, 3) + 4, 0, 2 * Math.PI);
    context.strokeStyle = colours.theme("accent");
    context.lineWidth = 2.5;
    context.stroke();
  }

  /** Which of the groups that the selected agent perceives somebody belongs to. */
  private groups(): Map<number, number> {
    const groups = (this.explanation?.groups ?? []) as { members: number[] }[];
    return new Map(groups.flatMap(({ members }, place) => members.map((id): [number, number] => [id, place])));
  }

  /** Others than those of cohorts, as far as there are any. */
  domainColour(place: number): colours.Rgb {
    return colours.cohort(place + this.scene.cohorts.length);
  }

  /** The domains that the selected agent plans in. */
  private domains(): string[] {
    return ((this.explanation?.tasks ?? []) as Task[]).map(({ domain }) => domain);
  }

  private recolour(): void {
    const { ids, look } = this;
    if (this.tint.length !== ids) this.tint = new Uint8Array(ids);
    const ramp = (shade: number) => colours.ramp(colours.lines(), shade / 255);
    switch (look.colour) {
      case "speed": {
        const top = this.topSpeed();
        this.tint.forEach((_, id) => (this.tint[id] = Math.min(255, (255 * this.speed[id]) / top)));
        this.setPalette(ramp);
        break;
      }
      case "delay":
        this.tint.forEach((_, id) => (this.tint[id] = Math.min(255, (255 * this.delay[id]) / TOP_DELAY)));
        this.setPalette(ramp);
        break;
      case "density": {
        const grid = this.grid();
        this.tint.forEach((_, id) => {
          const x = Math.floor((this.now[2 * id] + this.origin[0] - grid.low[0]) / grid.cell);
          const y = Math.floor((this.now[2 * id + 1] + this.origin[1] - grid.low[1]) / grid.cell);
          this.tint[id] = Math.min(255, (255 * (grid.density[y * grid.columns + x] ?? 0)) / this.tops.density);
        });
        this.setPalette(ramp);
        break;
      }
      case "group": {
        const groups = this.groups();
        this.tint.forEach((_, id) => (this.tint[id] = groups.has(id) ? 1 + (groups.get(id)! % 200) : 0));
        const faint: colours.Rgb = colours.isDark() ? [90, 96, 104] : [190, 194, 199];
        this.setPalette((place) => (place === 0 ? faint : colours.cohort(place - 1)));
        break;
      }
      default:
        this.tint.forEach((_, id) => (this.tint[id] = this.cohort(id) & 255));
        this.setPalette(colours.cohort);
    }
    this.crowd.setTints(this.tint);
  }

  /** Works out the colours only when they are others. */
  private setPalette(colour: (place: number) => colours.Rgb): void {
    if (this.palette === this.look.colour) return;
    this.palette = this.look.colour;
    this.crowd.setPalette(Array.from({ length: 256 }, (_, place) => colour(place)));
  }

  private topSpeed(): number {
    return Math.max(0.5, Math.min(255 * (this.frame?.speedUnit ?? 0.01), 2));
  }

  private showKey(): void {
    const bar = (label: string, top: string, stations = colours.lines()) => ({ label, top, stations });
    const bars: Record<string, { label: string; top: string; stations: colours.Rgb[] }> = {
      speed: bar("speed", `${this.topSpeed().toFixed(1)} m/s`),
      delay: bar("delay", `${TOP_DELAY} s`),
      density: bar("density around", `${this.tops.density} /m²`),
    };
    const maps: typeof bars = {
      density: bar("map: density", `${this.tops.density} /m²`, colours.areas()),
      flow: bar("map: flow", `${this.tops.flow} /m/s`),
    };
    const { colour, heat: map } = this.look;
    const state = [colour, map, colours.isDark(), this.topSpeed(), this.generation, this.scene.cohorts.length, this.explanation?.id, this.domains().join(), this.tops.density, this.tops.flow].join();
    if (state === this.keyShown) return;
    this.keyShown = state;
    this.key.replaceChildren();
    const entry = (...content: (Node | string)[]) => {
      const span = document.createElement("span");
      span.append(...content);
      this.key.append(span);
    };
    for (const shown of [bars[colour], maps[map]]) {
      if (shown) entry(`${shown.label} 0`, heat.strip(shown.stations), shown.top);
    }
    if (colour === "cohort") {
      this.scene.cohorts.slice(0, 8).forEach(({ name }, place) => entry(dot(colours.cohort(place)), name || "everybody"));
      if (this.scene.cohorts.length > 8) entry(`+ ${this.scene.cohorts.length - 8} more`);
    }
    this.domains().forEach((domain, place) => entry(dot(this.domainColour(place)), `plan: ${domain}`));
    if (colour === "group") entry(this.explanation ? "groups that the chosen agent perceives" : "click an agent to see the groups that it perceives");
  }
}

function dot(colour: colours.Rgb): HTMLElement {
  const mark = document.createElement("i");
  mark.style.background = colours.css(colour);
  return mark;
}

type OnMap = (context: CanvasRenderingContext2D, pane: Pane, value: any, at: Point) => void;

/** What of an explanation is drawn on the map, by the name of its field. A new field is one more line here. */
const ON_MAP: Record<string, OnMap> = {
  field: drawField,
  tasks: (context, pane, tasks: Task[]) => tasks.forEach((task, place) => drawTask(context, pane, task, place)),
  route: (context, pane, route: Ring, at) => {
    context.beginPath();
    context.moveTo(...pane.camera.toPage(at));
    route.forEach((stop) => context.lineTo(...pane.camera.toPage(stop)));
    context.setLineDash([7, 5]);
    stroke(context, "accent", 2);
    context.setLineDash([]);
  },
  neighbors: (context, pane, neighbors: { id: number | null; position: Point }[], at) => {
    context.beginPath();
    for (const { id, position } of neighbors) {
      context.moveTo(...pane.camera.toPage(at));
      context.lineTo(...pane.camera.toPage((id !== null && pane.place(id)) || position));
    }
    stroke(context, "faint", 1);
  },
  walls: (context, pane, walls: [Point, Point][]) => {
    context.beginPath();
    for (const [a, b] of walls) {
      context.moveTo(...pane.camera.toPage(a));
      context.lineTo(...pane.camera.toPage(b));
    }
    stroke(context, "accent", 3);
  },
  groups: (context, pane, groups: { members: number[] }[]) => {
    groups.forEach(({ members }, group) => {
      for (const id of members) {
        const place = pane.place(id);
        if (!place) continue;
        context.beginPath();
        context.arc(...pane.camera.toPage(place), Math.max(pane.radius(id) * pane.camera.scale, 3) + 3, 0, 2 * Math.PI);
        context.strokeStyle = colours.css(colours.cohort(group));
        context.lineWidth = 2;
        context.stroke();
      }
    });
  },
  looks: (context, pane, looks: { place: Point; density: number; threshold: number; barred: boolean }[], at) => {
    for (const { place, density, threshold, barred } of looks) {
      const [x, y] = pane.camera.toPage(place);
      context.beginPath();
      context.moveTo(...pane.camera.toPage(at));
      context.lineTo(x, y);
      stroke(context, barred || density > threshold ? "bad" : "faint", 1.5);
      context.font = "12px system-ui, sans-serif";
      context.fillStyle = colours.theme("ink");
      context.fillText(barred ? "barred" : density.toFixed(1), x + 5, y - 5);
    }
  },
};

function stroke(context: CanvasRenderingContext2D, name: string, width: number): void {
  context.strokeStyle = colours.theme(name);
  context.lineWidth = width;
  context.stroke();
}

interface Field { cell: number; first: Point; across: Point; along: Point; cost: number[][]; potential: (number | null)[][] }

/** A field of perception: what a cell costs as its shade, and lines of equal potential as steps of it. */
function drawField(context: CanvasRenderingContext2D, pane: Pane, { first, across, along, cost, potential }: Field): void {
  const cheapest = Math.min(...cost.flat());
  const corner = (column: number, line: number) => pane.camera.toPage([
    first[0] + across[0] * (column - 0.5) + along[0] * (line - 0.5),
    first[1] + across[1] * (column - 0.5) + along[1] * (line - 0.5),
  ]);
  potential.forEach((row, line) => row.forEach((value, column) => {
    const dear = Math.min(1, Math.log2(cost[line][column] / cheapest) / 4);
    // Every other cheap cell's worth of what is left is a little darker.
    const step = value === null ? 0 : Math.floor(value / (2 * cheapest)) & 1;
    context.beginPath();
    [[0, 0], [1, 0], [1, 1], [0, 1]].forEach(([x, y]) => context.lineTo(...corner(column + x, line + y)));
    context.fillStyle = colours.css(colours.ramp(colours.areas(), value === null ? 1 : 0.1 + 0.8 * dear + 0.08 * step), 0.55);
    context.fill();
  }));
}

/** What an agent has planned in a domain. */
interface Task { domain: string; plan: Ring; times: number[]; tunnel: number | null; seen: Ring; prints: { at: Point; heading: number; left: boolean }[] }

/** A domain's tunnel as a band, what its search looked at as dots, its plan as a line with its bends, and feet. */
function drawTask(context: CanvasRenderingContext2D, pane: Pane, { plan, times, tunnel, seen, prints }: Task, place: number): void {
  const colour = (opacity: number) => colours.css(pane.domainColour(place), opacity);
  const pages = plan.map((at) => pane.camera.toPage(at));
  const line = (width: number, opacity: number) => {
    context.beginPath();
    pages.forEach((at) => context.lineTo(...at));
    context.strokeStyle = colour(opacity);
    context.lineWidth = width;
    context.stroke();
  };
  const dots = (places: Point[], radius: number, opacity: number) => {
    context.fillStyle = colour(opacity);
    for (const [x, y] of places) {
      context.beginPath();
      context.arc(x, y, radius, 0, 2 * Math.PI);
      context.fill();
    }
  };
  context.save();
  context.lineJoin = context.lineCap = "round";
  // One that was widened until it holds everything is none.
  if (tunnel && tunnel < WIDEST_TUNNEL) line(2 * tunnel * pane.camera.scale, 0.12);
  dots(seen.map((at) => pane.camera.toPage(at)), 1.2, 0.45);
  // Finer plans are drawn wider, so that coarse ones under them can be seen. A line from foot to foot would say nothing.
  if (prints.length === 0) line(times.length > 0 ? 3 : 1.5, 0.9);
  if (prints.length === 0 && times.length > 0) dots(pages, 3, 1);
  for (const { at, heading, left } of prints) {
    const [x, y] = pane.camera.toPage(at);
    const long = Math.max(0.13 * pane.camera.scale, 3);
    context.beginPath();
    context.ellipse(x, y, long, long * 0.42, -heading, 0, 2 * Math.PI);
    context.fillStyle = colour(left ? 0.85 : 0.35);
    context.fill();
  }
  context.restore();
}
