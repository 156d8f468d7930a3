// Tools that change a simulation while it runs.

import { css, cohort, theme } from "./colours";
import type { Point, Ring, Scene } from "./messages";
import { text } from "./models";
import type { Pane } from "./pane";

type Send = (order: { do: string; [key: string]: unknown }) => void;

interface Tool { name: string; label: string; hint: string; cohort?: boolean; count?: boolean }

const TOOLS: Tool[] = [
  { name: "look", label: "Look", hint: "Drag to move the map, turn the wheel to zoom, click an agent to ask it." },
  { name: "obstacle", label: "Add obstacle", hint: "Drag a rectangle on the map." },
  { name: "remove", label: "Remove obstacle", hint: "Click an obstacle to take it away; drag it to put it elsewhere." },
  { name: "drop", label: "Drop people", hint: "Click where they shall stand.", cohort: true, count: true },
  { name: "send", label: "Send a cohort", hint: "Click where it shall go.", cohort: true },
  { name: "goal", label: "Move goals", hint: "Drag: all goals of the cohort move along.", cohort: true },
];

export class Steer {
  tool = "look";
  private readonly hint = text("p", "", "hint");
  private readonly cohorts = document.createElement("select");
  private readonly count = document.createElement("input");
  private readonly options = document.createElement("div");
  private readonly buttons: HTMLButtonElement[];
  private readonly off = text("p", "Only a simulation can be steered. Open a scenario.", "hint");
  private readonly on = document.createElement("div");
  private from?: Point;
  private grabbed?: { name: string; ring: Ring };

  constructor(root: HTMLElement, private readonly send: Send, private readonly changed: (tool: string) => void) {
    const tools = document.createElement("div");
    tools.className = "tools";
    this.buttons = TOOLS.map(({ name, label }) => {
      const button = text("button", label) as HTMLButtonElement;
      button.dataset.tool = name;
      button.onclick = () => this.choose(name);
      return button;
    });
    tools.append(...this.buttons);
    this.cohorts.id = "cohort";
    this.count.id = "count";
    Object.assign(this.count, { type: "number", min: "1", max: "1000", value: "20" });
    this.options.className = "row";
    this.on.append(tools, this.options, this.hint);
    root.append(this.off, this.on);
    this.choose("look");
  }

  choose(tool: string): void {
    this.tool = tool;
    const chosen = TOOLS.find(({ name }) => name === tool)!;
    this.buttons.forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.tool === tool)));
    this.hint.textContent = chosen.hint;
    const labelled = (name: string, input: HTMLElement) => {
      const label = document.createElement("label");
      label.append(name, input);
      return label;
    };
    this.options.replaceChildren(...(chosen.cohort ? [labelled("Cohort", this.cohorts)] : []), ...(chosen.count ? [labelled("How many", this.count)] : []));
    this.changed(tool);
  }

  show(scene: Scene): void {
    const live = scene.mode === "live";
    [this.on.hidden, this.off.hidden] = [!live, live];
    if (!live && this.tool !== "look") this.choose("look");
    const chosen = this.cohorts.value;
    this.cohorts.replaceChildren(...(scene.panes[0]?.cohorts ?? []).map(({ name }, place) => new Option(name || "everybody", String(place))));
    if ([...this.cohorts.options].some(({ value }) => value === chosen)) this.cohorts.value = chosen;
  }

  /** Whether a tool takes what the pointer does. */
  get busy(): boolean {
    return this.tool !== "look";
  }

  down(pane: Pane, at: Point): void {
    this.from = at;
    const { obstacles } = pane.scene.map;
    this.grabbed = this.tool === "remove" ? [...obstacles].reverse().find(({ ring }) => inside(ring, at)) : undefined;
  }

  move(pane: Pane, at: Point): void {
    const from = this.from;
    if (!from) return;
    const { camera } = pane;
    const shape = (ring: Ring, colour: string, closed = true) => (context: CanvasRenderingContext2D) => {
      context.beginPath();
      ring.forEach((corner, place) => (place ? context.lineTo(...camera.toPage(corner)) : context.moveTo(...camera.toPage(corner))));
      if (closed) context.closePath();
      context.strokeStyle = colour;
      context.lineWidth = 2;
      context.setLineDash([6, 4]);
      context.stroke();
      context.setLineDash([]);
    };
    if (this.tool === "obstacle") pane.preview = shape(rectangle(from, at), theme("ink"));
    if (this.tool === "goal") pane.preview = shape([from, at], css(cohort(Number(this.cohorts.value))), false);
    if (this.grabbed) pane.preview = shape(moved(this.grabbed.ring, from, at), theme("ink"));
  }

  up(pane: Pane, at: Point): void {
    const from = this.from;
    this.from = undefined;
    pane.preview = undefined;
    if (!from) return;
    const which = Number(this.cohorts.value);
    const far = Math.hypot(at[0] - from[0], at[1] - from[1]) * pane.camera.scale > 5;
    switch (this.tool) {
      case "obstacle":
        if (far) this.send({ do: "add_obstacle", ring: rectangle(from, at) });
        break;
      case "remove":
        if (!this.grabbed) break;
        this.send({ do: "remove_obstacle", name: this.grabbed.name });
        if (far) this.send({ do: "add_obstacle", ring: moved(this.grabbed.ring, from, at) });
        break;
      case "drop":
        this.send({ do: "drop", cohort: which, at, count: Math.max(1, Math.min(1000, Math.round(Number(this.count.value) || 1))) });
        break;
      case "send":
        this.send({ do: "retarget", cohort: which, at });
        break;
      case "goal":
        if (far) this.send({ do: "move_goals", cohort: which, by: [at[0] - from[0], at[1] - from[1]] });
    }
    this.grabbed = undefined;
  }
}

const rectangle = (a: Point, b: Point): Ring => [[a[0], a[1]], [b[0], a[1]], [b[0], b[1]], [a[0], b[1]]];
const moved = (ring: Ring, from: Point, to: Point): Ring => ring.map(([x, y]) => [x + to[0] - from[0], y + to[1] - from[1]]);

function inside(ring: Ring, [x, y]: Point): boolean {
  let odd = false;
  ring.forEach(([ax, ay], place) => {
    const [bx, by] = ring[(place + 1) % ring.length];
    if (ay > y !== by > y && x < ax + ((bx - ax) * (y - ay)) / (by - ay)) odd = !odd;
  });
  return odd;
}
