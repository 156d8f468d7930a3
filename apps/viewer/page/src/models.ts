// Models and their parameters, as the catalog lists them: nothing here knows a model by name.

import type { Block, Field, Hello, LiveScene } from "./messages";

type Send = (order: { do: string; [key: string]: unknown }) => void;

/** Stages in the order of the pipeline, with the question that each answers. */
const STAGES: Record<string, string> = { macroscale: "where to?", mesoscale: "among whom?", microscale: "which velocity now?", motion: "how do bodies move?" };

export class Models {
  private shown = "";
  private readonly opened = new Set<string>();

  constructor(private readonly root: HTMLElement, private readonly send: Send) {}

  show(hello: Hello | undefined, live: LiveScene | null): void {
    const state = JSON.stringify([hello?.models.length, live?.pipeline, live?.params, live?.warnings]);
    // Whoever is typing must not lose the field.
    if (state === this.shown || (this.root.contains(document.activeElement) && document.activeElement instanceof HTMLInputElement && this.shown && live)) return;
    this.shown = state;
    this.root.replaceChildren();
    if (!hello || !live) {
      this.root.append(text("p", "A recorded run has no models to choose. Open a scenario to choose some.", "hint"));
      return;
    }
    this.root.append(text("p", "Changes hold from the next step on; the crowd stays where it is. Cohorts that name a model of their own keep it.", "hint"));
    live.warnings.forEach((warning) => this.root.append(text("p", warning, "hint")));
    for (const [stage, question] of Object.entries(STAGES)) this.root.append(this.stage(hello, live, stage, question));
    const used = new Set(Object.values(live.pipeline).flat());
    const models = new Set(hello.models.map(({ name }) => name));
    const [first, others] = [hello.blocks.filter(({ name }) => used.has(name)), hello.blocks.filter(({ name }) => !used.has(name) && !models.has(name))];
    this.root.append(text("h3", "Parameters"));
    for (const block of first) this.root.append(this.block(block, live, true));
    for (const block of others) this.root.append(this.block(block, live, false));
  }

  private stage(hello: Hello, live: LiveScene, stage: string, question: string): HTMLElement {
    const box = document.createElement("div");
    box.className = "stage";
    box.append(text("span", stage));
    const models = hello.models.filter((model) => model.stage === stage);
    const chosen = live.pipeline[stage];
    if (Array.isArray(chosen)) {
      const boxes = document.createElement("div");
      boxes.className = "boxes";
      for (const { name, about } of models) {
        const input = document.createElement("input");
        input.type = "checkbox";
        input.checked = chosen.includes(name);
        input.dataset.model = name;
        input.onchange = () => this.send({ do: "models", [stage]: input.checked ? [...chosen, name] : chosen.filter((other) => other !== name) });
        const label = document.createElement("label");
        label.title = about;
        label.append(input, name);
        boxes.append(label);
      }
      box.append(boxes, text("small", question));
      return box;
    }
    const select = document.createElement("select");
    select.dataset.stage = stage;
    for (const { name } of models) select.add(new Option(name, name, false, name === chosen));
    select.onchange = () => this.send({ do: "models", [stage]: select.value });
    const about = models.find(({ name }) => name === chosen)?.about ?? "";
    box.append(select, text("small", `${question} ${about}`));
    return box;
  }

  private block(block: Block, live: LiveScene, open: boolean): HTMLElement {
    const details = document.createElement("details");
    details.open = open || this.opened.has(block.name);
    details.ontoggle = () => (details.open ? this.opened.add(block.name) : this.opened.delete(block.name));
    const summary = text("summary", block.name);
    summary.title = block.about;
    details.append(summary, ...block.fields.map((field) => this.field(block, field, live)));
    return details;
  }

  private field(block: Block, field: Field, live: LiveScene): HTMLElement {
    const value = live.params[block.name]?.[field.name] ?? field.default;
    const set = (value: number | boolean | string) => this.send({ do: "set", block: block.name, key: field.name, value });
    const row = document.createElement("div");
    row.className = "field";
    row.dataset.field = `${block.name}.${field.name}`;
    row.append(text("span", field.name.replaceAll("_", " ") + (field.unit ? `, ${field.unit}` : "")));
    if (field.kind === "flag") {
      const input = document.createElement("input");
      input.type = "checkbox";
      input.checked = value === true;
      input.onchange = () => set(input.checked);
      row.append(input);
    } else if (Array.isArray(field.kind)) {
      const select = document.createElement("select");
      select.append(...field.kind.map((name) => new Option(name, name, false, name === value)));
      select.onchange = () => set(select.value);
      row.append(select);
    } else {
      this.number(row, field, Number(value), set);
    }
    row.append(text("small", field.doc));
    return row;
  }

  private number(row: HTMLElement, field: Field, value: number, set: (value: number) => void): void {
    const { limit } = field;
    const whole = field.kind === "whole";
    const input = document.createElement("input");
    input.type = "number";
    input.step = whole ? "1" : "any";
    [input.min, input.max] = [String(limit.low), limit.high < 1e300 ? String(limit.high) : ""];
    input.value = String(value);
    input.title = `${limit.low_included ? "≥" : ">"} ${limit.low}${limit.high < 1e300 ? `, ≤ ${limit.high}` : ""}; default ${field.default}`;
    // A slider over the usual range: where a limit is far away, four times the default.
    const usual = Number(field.default) || 1;
    const top = Math.max(Math.min(limit.high, Math.max(4 * usual, whole ? 20 : 0)), value);
    const bottom = Math.max(limit.low, usual < 0 ? 4 * usual : 0, -1e9);
    const slider = document.createElement("input");
    slider.type = "range";
    [slider.min, slider.max, slider.step] = [String(bottom), String(top), whole ? "1" : String((top - bottom) / 200)];
    slider.value = String(value);
    const change = (from: HTMLInputElement, to: HTMLInputElement) => {
      let number = from.valueAsNumber;
      if (!Number.isFinite(number)) return;
      // The end of a slider may itself be forbidden.
      if (!limit.low_included && number <= limit.low) number = limit.low + (top - bottom) / 200;
      to.value = String(number);
      set(Number(number.toPrecision(6)));
    };
    input.onchange = () => change(input, slider);
    slider.oninput = () => (input.value = String(Number(slider.valueAsNumber.toPrecision(4))));
    slider.onchange = () => change(slider, input);
    row.append(input, slider);
  }
}

export function text(tag: string, content: string, name = ""): HTMLElement {
  const element = document.createElement(tag);
  element.textContent = content;
  element.className = name;
  return element;
}
