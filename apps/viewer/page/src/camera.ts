import type { Point } from "./messages";

/** From metres (y up) to pixels of a pane (y down). Panes side by side share one, so that they show the same place. */
export class Camera {
  middle: Point = [0, 0];
  /** Pixels to a metre. */
  scale = 20;
  /** Size of a pane, CSS pixels. */
  size: Point = [1, 1];

  toPage([x, y]: Point): Point {
    return [(x - this.middle[0]) * this.scale + this.size[0] / 2, (this.middle[1] - y) * this.scale + this.size[1] / 2];
  }

  toWorld([x, y]: Point): Point {
    return [(x - this.size[0] / 2) / this.scale + this.middle[0], this.middle[1] - (y - this.size[1] / 2) / this.scale];
  }

  pan(dx: number, dy: number): void {
    this.middle = [this.middle[0] - dx / this.scale, this.middle[1] + dy / this.scale];
  }

  /** What is under a point of the page stays there. */
  zoom(at: Point, factor: number): void {
    const fixed = this.toWorld(at);
    this.scale = Math.min(Math.max(this.scale * factor, 1e-3), 1e4);
    const now = this.toWorld(at);
    this.middle = [this.middle[0] + fixed[0] - now[0], this.middle[1] + fixed[1] - now[1]];
  }

  fit([low, high]: [Point, Point]): void {
    const [width, height] = [Math.max(high[0] - low[0], 2), Math.max(high[1] - low[1], 2)];
    this.middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    this.scale = Math.max(Math.min((this.size[0] - 48) / width, (this.size[1] - 84) / height), 1e-3);
  }
}
