// JSON messages of the server, see apps/viewer/src/scene.rs, server.rs and host.rs.

export type Point = [number, number];
export type Ring = Point[];

export interface Field {
  name: string;
  doc: string;
  unit: string;
  // A list holds the names that can be chosen from.
  kind: "flag" | "whole" | "real" | "drawn" | string[];
  default: number | boolean | string;
  limit: { low: number; low_included: boolean; high: number };
}

export interface Block { name: string; about: string; fields: Field[] }
export interface Model { name: string; stage: string; about: string; paper: string }

export interface Hello {
  type: "hello";
  models: Model[];
  blocks: Block[];
  given: string[];
  scenarios: { name: string; about: string; folder: string }[];
}

export interface PaneScene {
  name: string;
  cohorts: { name: string; count: number }[];
  map: { walkable: Ring[][]; obstacles: { name: string; ring: Ring }[]; walls: Ring[]; gaps: Ring[] };
  extent: [Point, Point];
  goals: { cohort: number; at: Ring }[];
}

export interface LiveScene {
  seed: number;
  dt: number;
  until: number;
  pipeline: Record<string, string | string[]>;
  params: Record<string, Record<string, number | boolean | string>>;
  warnings: string[];
}

export interface Scene {
  type: "scene";
  generation: number;
  mode: "nothing" | "live" | "recorded";
  opened: string;
  error: string | null;
  panes: PaneScene[];
  live: LiveScene | null;
  duration: number | null;
}

export interface Sample {
  time: number;
  present: number;
  arrived: number;
  mean_speed: number;
  density: number;
  collisions: number;
  stage_us: Record<string, number>;
}

/** Whatever the engine tells: what is not listed here is shown as it comes. */
export interface Explanation {
  id: number;
  position: Point;
  velocity: Point;
  [field: string]: unknown;
}

export type Message =
  | Hello
  | Scene
  | { type: "samples"; pane: number; anew: boolean; samples: Sample[] }
  | { type: "explanation"; id: number; explanation: Explanation | null }
  | { type: "error"; message: string };
