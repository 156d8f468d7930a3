// Charts beside the crowd, with a line at the time that is shown. A click goes there where the run is recorded.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { cohort, css, theme } from "./colours";
import type { Sample } from "./messages";

interface Chart {
  title: string;
  /** What is drawn, by name, of a sample. */
  lines: (samples: Sample[]) => Record<string, (sample: Sample) => number>;
}

const CHARTS: Chart[] = [
  { title: "Agents present and arrived", lines: () => ({ present: (s) => s.present, arrived: (s) => s.arrived }) },
  { title: "Mean speed, m/s", lines: () => ({ speed: (s) => s.mean_speed }) },
  { title: "Density around an agent, 1/m²", lines: () => ({ density: (s) => s.density }) },
  { title: "Collisions: pairs that overlap", lines: () => ({ collisions: (s) => s.collisions }) },
  {
    title: "Time of a step by stage, µs",
    // Stages are named by the engine.
    lines: (samples) =>
      Object.fromEntries(Object.keys(samples.at(-1)?.stage_us ?? {}).map((name) => [name, (s: Sample) => s.stage_us[name] ?? 0])),
  },
];

export class Charts {
  private readonly samples: Sample[][] = [[]];
  private plots: { plot: uPlot; shape: string; holder: HTMLElement; title: HTMLElement; legend: HTMLElement }[] = [];
  private time = 0;
  private stale = true;

  constructor(private readonly root: HTMLElement, private readonly seek: (time: number) => void) {}

  take(pane: number, anew: boolean, samples: Sample[]): void {
    if (anew) this.samples[pane] = [];
    this.samples[pane].push(...samples);
    this.stale = true;
  }

  panes(count: number): void {
    this.samples.length = count;
    for (let pane = 0; pane < count; pane++) this.samples[pane] ??= [];
    this.stale = true;
  }

  restyle(): void {
    this.plots.forEach(({ plot }) => plot.destroy());
    this.plots = [];
    this.root.replaceChildren();
    this.stale = true;
  }

  /** How many samples there are, for tests. */
  get count(): number {
    return this.samples[0]?.length ?? 0;
  }

  at(time: number): void {
    const moved = time !== this.time;
    this.time = time;
    if (this.root.hidden) return;
    if (this.stale) this.draw();
    else if (moved) this.plots.forEach(({ plot }) => plot.redraw(false, false));
  }

  private draw(): void {
    this.stale = false;
    CHARTS.forEach((chart, place) => {
      const sets = this.samples.map((samples) => ({ samples, lines: Object.entries(chart.lines(samples)) }));
      const labels = sets.flatMap(({ lines }, pane) => lines.map(([name]) => (this.samples.length > 1 ? `${name} ${["left", "right (dashed)"][pane]}` : name)));
      const shape = [labels.join(), this.root.clientWidth].join();
      if (this.plots[place]?.shape !== shape) this.build(place, chart.title, labels, shape, sets[0].lines.length);
      const entry = this.plots[place];
      const empty = labels.length === 0;
      entry.holder.hidden = entry.title.hidden = entry.legend.hidden = empty;
      if (!empty) entry.plot.setData(joined(sets));
    });
  }

  private build(place: number, title: string, labels: string[], shape: string, first: number): void {
    const old = this.plots[place];
    const holder = old?.holder ?? document.createElement("div");
    const heading = old?.title ?? document.createElement("h3");
    const legend = old?.legend ?? document.createElement("div");
    old?.plot.destroy();
    if (!old) {
      heading.textContent = title;
      legend.className = "legend";
      const chart = document.createElement("div");
      chart.className = "chart";
      chart.append(heading, holder, legend);
      this.root.append(chart);
    }
    const axis = { stroke: theme("faint"), grid: { stroke: theme("line"), width: 1 }, ticks: { show: false }, font: "11px system-ui" };
    const colour = (line: number) => css(cohort(line % Math.max(first, 1)));
    legend.replaceChildren(
      ...(labels.length > 1 ? labels : []).map((label, line) => {
        const span = document.createElement("span");
        const mark = document.createElement("i");
        mark.style.background = colour(line);
        span.append(mark, label);
        return span;
      }),
    );
    const cursor = (plot: uPlot) => {
      // The latest frame is a little later than the latest sample.
      const { left, top, width, height } = plot.bbox;
      const x = Math.min(Math.round(plot.valToPos(this.time, "x", true)), left + width - 1);
      if (!(x >= left)) return;
      plot.ctx.fillStyle = theme("accent");
      plot.ctx.fillRect(x - 1, top, 2, height);
    };
    const plot = new uPlot(
      {
        width: Math.max(this.root.clientWidth - 24, 200),
        height: 92,
        padding: [8, 8, 0, 0],
        scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low ?? 0), Math.max(high ?? 1, 0.1) * 1.08] } },
        axes: [{ ...axis, size: 22 }, { ...axis, size: 46 }],
        series: [{}, ...labels.map((label, line) => ({ label, stroke: colour(line), width: 1.6, dash: line >= first ? [5, 4] : undefined, points: { show: false }, spanGaps: true }))],
        cursor: { y: false, drag: { x: false, y: false } },
        legend: { show: false },
        hooks: { draw: [cursor] },
      },
      [[], ...labels.map(() => [])],
      holder,
    );
    plot.over.addEventListener("click", (event) => this.seek(plot.posToVal(event.offsetX, "x")));
    this.plots[place] = { plot, shape, holder, title: heading, legend };
  }
}

/** Samples of several runs on one axis of time. */
function joined(sets: { samples: Sample[]; lines: [string, (sample: Sample) => number][] }[]): uPlot.AlignedData {
  if (sets.length === 1) {
    const [{ samples, lines }] = sets;
    return [samples.map(({ time }) => time), ...lines.map(([, line]) => samples.map(line))];
  }
  const tables = sets.map(({ samples, lines }) => [samples.map(({ time }) => time), ...lines.map(([, line]) => samples.map(line))] as uPlot.AlignedData);
  return uPlot.join(tables.filter((table) => table.length > 1));
}
