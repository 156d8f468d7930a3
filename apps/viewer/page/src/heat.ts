// Heat maps: density and flow of the crowd as it stands, on a grid over what there is to see.

import { areas, css, isDark, lines, ramp, type Rgb, theme } from "./colours";
import type { Camera } from "./camera";
import type { Point } from "./messages";
import { NOWHERE } from "./wire";

/** A crowd in metres from its origin. */
export interface Places { origin: Point; at: Float32Array; heading: Uint8Array; speed: Float32Array }

export interface Grid { low: Point; cell: number; columns: number; rows: number; density: Float32Array; flow: Float32Array }

/** Cells of a metre or more; at most so many along the longer side. */
const CELLS = 200;

export function gathered(places: Places, [low, high]: [Point, Point]): Grid {
  const size = Math.max(high[0] - low[0], high[1] - low[1]) + 4;
  const cell = Math.max(1, size / CELLS);
  const columns = Math.ceil((high[0] - low[0] + 4) / cell);
  const rows = Math.ceil((high[1] - low[1] + 4) / cell);
  const corner: Point = [low[0] - 2, low[1] - 2];
  const [count, vx, vy] = [0, 1, 2].map(() => new Float32Array(columns * rows));
  const { at, heading, speed, origin } = places;
  for (let id = 0; id < heading.length; id++) {
    if (at[2 * id] >= NOWHERE) continue;
    const x = Math.floor((at[2 * id] + origin[0] - corner[0]) / cell);
    const y = Math.floor((at[2 * id + 1] + origin[1] - corner[1]) / cell);
    if (x < 0 || y < 0 || x >= columns || y >= rows) continue;
    const angle = (heading[id] * 2 * Math.PI) / 256;
    const place = y * columns + x;
    count[place] += 1;
    vx[place] += speed[id] * Math.cos(angle);
    vy[place] += speed[id] * Math.sin(angle);
  }
  for (const field of [count, vx, vy]) blur(field, columns, rows);
  const flow = new Float32Array(2 * count.length);
  const density = count.map((people) => people / (cell * cell));
  for (let place = 0; place < count.length; place++) {
    // Flow is density times velocity: people a second through a metre.
    flow[2 * place] = vx[place] / (cell * cell);
    flow[2 * place + 1] = vy[place] / (cell * cell);
  }
  return { low: corner, cell, columns, rows, density, flow };
}

/** 1 2 1 in both directions. */
function blur(field: Float32Array, columns: number, rows: number): void {
  const pass = (length: number, lines: number, step: number, jump: number) => {
    for (let line = 0; line < lines; line++) {
      let before = 0;
      for (let place = 0; place < length; place++) {
        const here = line * jump + place * step;
        const now = field[here];
        const after = place + 1 < length ? field[here + step] : 0;
        field[here] = (before + 2 * now + after) / 4;
        before = now;
      }
    }
  };
  pass(columns, rows, 1, columns);
  pass(rows, columns, columns, 1);
}

/** A round upper end for a ramp: one that holds nearly all values, and stays while it fits. */
export function top(values: Float32Array, now: number): number {
  const seen = values.filter((value) => value > 1e-3).sort();
  const high = seen[Math.floor(0.98 * seen.length)] ?? 0;
  if (high <= now && high > 0.4 * now) return now;
  return [0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 8].find((round) => round >= high) ?? 8;
}

/** How strong the flow is in each cell, people a second through a metre. */
export function strength({ flow }: Grid): Float32Array {
  return Float32Array.from({ length: flow.length / 2 }, (_, place) => Math.hypot(flow[2 * place], flow[2 * place + 1]));
}

/** Draws a grid under the crowd, with `most` at the end of the ramp; flow also gets arrows. */
export function draw(context: CanvasRenderingContext2D, camera: Camera, grid: Grid, what: string, most: number): void {
  const { columns, rows, density } = grid;
  const values = what === "flow" ? strength(grid) : density;
  const value = (place: number) => values[place] / most;
  const shades = Array.from({ length: 64 }, (_, shade) => ramp(what === "flow" ? lines() : areas(), shade / 63));
  const image = new ImageData(columns, rows);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      const level = Math.min(value(y * columns + x), 1);
      const texel = 4 * ((rows - 1 - y) * columns + x);
      image.data.set(shades[Math.round(level * 63)], texel);
      image.data[texel + 3] = 230 * Math.min(1, level * 6);
    }
  }
  const sheet = new OffscreenCanvas(columns, rows);
  sheet.getContext("2d")!.putImageData(image, 0, 0);
  const [left, bottom] = camera.toPage(grid.low);
  const [width, height] = [columns * grid.cell * camera.scale, rows * grid.cell * camera.scale];
  context.imageSmoothingEnabled = true;
  context.drawImage(sheet, left, bottom - height, width, height);
  if (what === "flow") arrows(context, camera, grid, most);
}

function arrows(context: CanvasRenderingContext2D, camera: Camera, grid: Grid, most: number): void {
  const every = Math.max(1, Math.round(26 / (grid.cell * camera.scale)));
  context.strokeStyle = theme("ink");
  context.lineWidth = 1.2;
  context.globalAlpha = 0.75;
  context.beginPath();
  for (let y = Math.floor(every / 2); y < grid.rows; y += every) {
    for (let x = Math.floor(every / 2); x < grid.columns; x += every) {
      const place = y * grid.columns + x;
      const strength = Math.hypot(grid.flow[2 * place], grid.flow[2 * place + 1]);
      if (strength < 0.08 * most) continue;
      const [px, py] = camera.toPage([grid.low[0] + (x + 0.5) * grid.cell, grid.low[1] + (y + 0.5) * grid.cell]);
      const length = 5 + 9 * Math.min(1, strength / most);
      const [ux, uy] = [grid.flow[2 * place] / strength, -grid.flow[2 * place + 1] / strength];
      const tip: Point = [px + ux * length, py + uy * length];
      context.moveTo(px - ux * length, py - uy * length);
      context.lineTo(...tip);
      for (const side of [-1, 1]) {
        context.moveTo(...tip);
        context.lineTo(tip[0] - 4 * ux + side * 3 * uy, tip[1] - 4 * uy - side * 3 * ux);
      }
    }
  }
  context.stroke();
  context.globalAlpha = 1;
}

/** A strip of a ramp for a key. */
export function strip(stations: Rgb[]): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [70, 1];
  const context = canvas.getContext("2d")!;
  for (let x = 0; x < 70; x++) {
    context.fillStyle = css(ramp(stations, x / 69));
    context.fillRect(x, 0, 1, 1);
  }
  canvas.dataset.dark = String(isDark());
  return canvas;
}
