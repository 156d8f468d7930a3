// Binary messages of the server, see apps/viewer/src/wire.rs.

/** Absent agents lie where nobody looks. */
export const NOWHERE = 1e9;

export interface Frame {
  pane: number;
  playing: boolean;
  over: boolean;
  fastest: boolean;
  generation: number;
  ids: number;
  present: number;
  arrived: number;
  speed: number;
  step: number;
  time: number;
  corner: [number, number];
  unit: [number, number];
  speedUnit: number;
  delayUnit: number;
  x: Uint16Array;
  y: Uint16Array;
  heading: Uint8Array;
  velocity: Uint8Array;
  delay: Uint8Array;
  bits: Uint8Array;
  movers: Float32Array;
  bytes: number;
}

export interface Statics {
  generation: number;
  pane: number;
  cohort: Uint16Array;
  radius: Uint16Array;
}

const HEAD = 72;

export function kind(buffer: ArrayBuffer): number {
  return new DataView(buffer).getUint8(0);
}

export function frame(buffer: ArrayBuffer): Frame {
  const view = new DataView(buffer);
  const flags = view.getUint8(1);
  const [movers, ids, present] = [view.getUint8(3), view.getUint32(8, true), view.getUint32(12, true)];
  const bits = HEAD + 7 * present;
  const after = bits + Math.ceil(ids / 8);
  return {
    playing: (flags & 1) > 0,
    over: (flags & 2) > 0,
    fastest: (flags & 4) > 0,
    pane: view.getUint8(2),
    generation: view.getUint32(4, true),
    ids,
    present,
    arrived: view.getUint32(16, true),
    speed: view.getFloat32(20, true),
    step: Number(view.getBigUint64(24, true)),
    time: view.getFloat64(32, true),
    corner: [view.getFloat64(40, true), view.getFloat64(48, true)],
    unit: [view.getFloat32(56, true), view.getFloat32(60, true)],
    speedUnit: view.getFloat32(64, true),
    delayUnit: view.getFloat32(68, true),
    x: new Uint16Array(buffer, HEAD, present),
    y: new Uint16Array(buffer, HEAD + 2 * present, present),
    heading: new Uint8Array(buffer, HEAD + 4 * present, present),
    velocity: new Uint8Array(buffer, HEAD + 5 * present, present),
    delay: new Uint8Array(buffer, HEAD + 6 * present, present),
    bits: new Uint8Array(buffer, bits, Math.ceil(ids / 8)),
    // Not aligned, so copied.
    movers: new Float32Array(buffer.slice(after, after + 12 * movers)),
    bytes: buffer.byteLength,
  };
}

export function statics(buffer: ArrayBuffer): Statics {
  const view = new DataView(buffer);
  const ids = view.getUint32(8, true);
  return {
    generation: view.getUint32(4, true),
    pane: view.getUint32(12, true),
    cohort: new Uint16Array(buffer, 16, ids),
    radius: new Uint16Array(buffer, 16 + 2 * ids, ids),
  };
}
