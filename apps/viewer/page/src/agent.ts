// Why an agent does what it does: velocity space, and everything else that the engine tells, as it comes.

import { css, cohort, theme } from "./colours";
import type { Explanation, Point } from "./messages";
import { text } from "./models";

interface Cone { apex: Point; left: Point; right: Point }
interface HalfPlane { point: Point; direction: Point; wall: boolean }

type Draw = (space: Space, value: any) => void;

/** What of an explanation is drawn in velocity space, by the name of its field, in this order. A new field is one more line. */
const IN_SPACE: Record<string, Draw> = {
  cones: (space, cones: Cone[]) => cones.forEach((cone) => space.cone(cone, css(cohort(1), 0.16), css(cohort(1), 0.7))),
  groups: (space, groups: { cone: Cone | null }[]) =>
    groups.forEach(({ cone }, group) => cone && space.cone(cone, css(cohort(group), 0.14), css(cohort(group), 0.8))),
  half_planes: (space, planes: HalfPlane[]) => planes.forEach((plane) => space.halfPlane(plane)),
};

/** Velocities, by the name of their field. */
const ARROWS: Record<string, number> = { velocity: 6, preferred: 2, adapted: 3, wanted: 4, chosen: 0 };

export class Agent {
  private readonly canvas = document.createElement("canvas");
  private readonly title = document.createElement("h3");
  private readonly figures = document.createElement("p");
  private readonly legend = document.createElement("div");
  private readonly tree = document.createElement("div");
  private readonly opened = new Set<string>();
  private readonly content = document.createElement("div");
  private readonly empty = text("p", "Click an agent to see what it sees and why it chooses its velocity.", "hint");
  readonly follow = document.createElement("input");

  constructor(private readonly root: HTMLElement, release: () => void) {
    this.canvas.id = "inset";
    this.legend.className = "legend";
    this.tree.className = "tree";
    this.figures.className = "hint";
    this.follow.type = "checkbox";
    this.follow.id = "follow";
    const label = document.createElement("label");
    label.append(this.follow, "follow with the camera");
    const button = text("button", "Let go");
    button.onclick = release;
    const row = document.createElement("div");
    row.className = "row";
    row.append(label, button);
    this.content.append(this.title, this.figures, row, this.canvas, this.legend, text("h3", "Everything it tells"), this.tree);
    this.content.hidden = true;
    root.append(this.empty, this.content);
  }

  clear(): void {
    this.content.hidden = true;
    this.empty.hidden = false;
    this.follow.checked = false;
  }

  /** A recorded agent has a way and a speed, and no reasons. */
  recorded(id: number, group: string, speed: number): void {
    this.begin(`Agent ${id}`, `${group} · ${speed.toFixed(2)} m/s · a recorded run tells where it was, not why`);
    this.canvas.hidden = this.legend.hidden = true;
    this.tree.replaceChildren();
  }

  show(explanation: Explanation, group: string): void {
    const speed = Math.hypot(...explanation.velocity);
    const held = Number(explanation.frustration ?? 0);
    const told = [group, `${speed.toFixed(2)} m/s`, explanation.no_path ? "no way to its goal" : "", held > 0.01 ? `held up ${(100 * held).toFixed(0)} %` : ""];
    this.begin(`Agent ${explanation.id}`, told.filter(Boolean).join(" · "));
    this.canvas.hidden = this.legend.hidden = false;
    if (!this.root.hidden) this.draw(explanation);
    const scroll = this.root.scrollTop;
    this.tree.replaceChildren(...Object.entries(explanation).map(([name, value]) => this.branch(name, value, name)));
    this.root.scrollTop = scroll;
  }

  private begin(title: string, figures: string): void {
    this.content.hidden = false;
    this.empty.hidden = true;
    this.title.textContent = title;
    this.figures.textContent = figures;
  }

  private draw(explanation: Explanation): void {
    const arrows = Object.entries(ARROWS).filter(([name]) => Array.isArray(explanation[name]));
    const reach = Math.max(1.2, ...arrows.map(([name]) => Math.hypot(...(explanation[name] as Point)))) * 1.35;
    const space = new Space(this.canvas, reach);
    for (const [name, draw] of Object.entries(IN_SPACE)) if (explanation[name]) draw(space, explanation[name]);
    space.axes();
    for (const [name, colour] of arrows) space.arrow(explanation[name] as Point, css(cohort(colour)), name === "chosen");
    const count = (name: string) => (Array.isArray(explanation[name]) ? (explanation[name] as unknown[]).length : 0);
    const counts = ["neighbors", ...Object.keys(IN_SPACE)].filter((name) => count(name) > 0).map((name) => `${count(name)} ${name.replaceAll("_", " ")}`);
    this.legend.replaceChildren(
      ...arrows.map(([name, colour]) => {
        const span = document.createElement("span");
        const mark = document.createElement("i");
        mark.style.background = css(cohort(colour));
        span.append(mark, name);
        return span;
      }),
      text("span", counts.join(", ")),
    );
  }

  private branch(name: string, value: unknown, path: string): HTMLElement {
    if (value === null || typeof value !== "object" || isPoint(value)) {
      const line = document.createElement("div");
      line.append(text("b", `${name}: `), isPoint(value) ? `(${value.map(short).join(", ")})` : short(value));
      line.dataset.path = path;
      return line;
    }
    const details = document.createElement("details");
    const entries = Object.entries(value);
    details.append(text("summary", `${name}${Array.isArray(value) ? ` [${entries.length}]` : ""}`));
    details.dataset.path = path;
    const fill = () => details.append(...entries.slice(0, 100).map(([key, inner]) => this.branch(key, inner, `${path}.${key}`)));
    if (this.opened.has(path)) {
      details.open = true;
      fill();
    }
    details.ontoggle = () => {
      if (details.open && details.childElementCount === 1) fill();
      if (details.open) this.opened.add(path);
      else this.opened.delete(path);
    };
    return details;
  }
}

const isPoint = (value: unknown): value is Point => Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === "number");
const short = (value: unknown) => (typeof value === "number" && !Number.isInteger(value) ? value.toFixed(3) : String(value));

/** Velocity space on a canvas: the origin in the middle, y up. */
class Space {
  private readonly context: CanvasRenderingContext2D;
  private readonly side: number;
  private readonly scale: number;

  constructor(canvas: HTMLCanvasElement, private readonly reach: number) {
    const ratio = window.devicePixelRatio || 1;
    this.side = canvas.clientWidth || 300;
    canvas.width = canvas.height = Math.round(this.side * ratio);
    this.context = canvas.getContext("2d")!;
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, this.side, this.side);
    this.scale = this.side / 2 / reach;
  }

  private page([x, y]: Point): Point {
    return [this.side / 2 + x * this.scale, this.side / 2 - y * this.scale];
  }

  axes(): void {
    const { context, reach } = this;
    context.lineWidth = 1;
    context.strokeStyle = theme("wall-edge");
    context.fillStyle = theme("faint");
    context.font = "11px system-ui, sans-serif";
    context.beginPath();
    context.moveTo(...this.page([-reach, 0]));
    context.lineTo(...this.page([reach, 0]));
    context.moveTo(...this.page([0, -reach]));
    context.lineTo(...this.page([0, reach]));
    for (let speed = 0.5; speed < reach; speed += 0.5) {
      const [x, y] = this.page([speed, 0]);
      context.moveTo(x, y - 3);
      context.lineTo(x, y + 3);
      if (speed % 1 === 0) context.fillText(`${speed} m/s`, x - 12, y + 15);
    }
    context.stroke();
  }

  cone({ apex, left, right }: Cone, fill: string, edge: string): void {
    const far = 20 * this.reach;
    const along = (side: Point): Point => this.page([apex[0] + side[0] * far, apex[1] + side[1] * far]);
    const { context } = this;
    context.beginPath();
    context.moveTo(...along(left));
    context.lineTo(...this.page(apex));
    context.lineTo(...along(right));
    context.fillStyle = fill;
    context.fill();
    context.strokeStyle = edge;
    context.lineWidth = 1;
    context.stroke();
  }

  /** Shades what is forbidden, which lies to the right of the line. */
  halfPlane({ point, direction, wall }: HalfPlane): void {
    const far = 20 * this.reach;
    const at = (along: number, aside: number): Point =>
      this.page([point[0] + direction[0] * along + direction[1] * aside, point[1] + direction[1] * along - direction[0] * aside]);
    const { context } = this;
    const colour = wall ? cohort(6) : cohort(1);
    context.beginPath();
    context.moveTo(...at(-far, 0));
    context.lineTo(...at(far, 0));
    context.lineTo(...at(far, far));
    context.lineTo(...at(-far, far));
    context.fillStyle = css(colour, 0.1);
    context.fill();
    context.beginPath();
    context.moveTo(...at(-far, 0));
    context.lineTo(...at(far, 0));
    context.strokeStyle = css(colour, 0.85);
    context.lineWidth = 1.2;
    context.stroke();
  }

  arrow(velocity: Point, colour: string, strong: boolean): void {
    const { context } = this;
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = strong ? 3 : 1.6;
    context.beginPath();
    context.moveTo(...this.page([0, 0]));
    context.lineTo(...this.page(velocity));
    context.stroke();
    context.beginPath();
    context.arc(...this.page(velocity), strong ? 5.5 : 4, 0, 2 * Math.PI);
    context.fill();
  }
}
