// Bodies and trails, drawn by the GPU: a quad for each agent, a line for each piece of a trail.

import type { Camera } from "./camera";
import type { Rgb } from "./colours";
import type { Point } from "./messages";

const BODY_VERTEX = `#version 300 es
in vec2 corner;
in vec2 before;
in vec2 now;
in float radius;
in float tint;
in float heading;
uniform vec2 middle, pixels;
uniform float scale, share, least;
uniform sampler2D palette;
out vec2 inside;
out vec3 colour;
out float size;
out vec2 front;
void main() {
  vec2 place = (mix(before, now, share) - middle) * scale;
  size = max(radius * scale, least);
  inside = corner * (size + 1.0);
  colour = texelFetch(palette, ivec2(int(tint), 0), 0).rgb;
  float angle = heading * 6.2831853 / 256.0;
  front = vec2(cos(angle), sin(angle));
  gl_Position = vec4((place + inside) * 2.0 / pixels, 0.0, 1.0);
}`;

const BODY_FRAGMENT = `#version 300 es
precision highp float;
in vec2 inside;
in vec3 colour;
in float size;
in vec2 front;
uniform vec3 rim;
out vec4 pixel;
void main() {
  float away = length(inside);
  float cover = clamp(size + 0.5 - away, 0.0, 1.0);
  if (cover <= 0.0) discard;
  vec3 paint = mix(colour, rim, clamp(away - size + 1.3, 0.0, 1.0) * step(2.5, size));
  float nose = clamp(0.28 * size + 0.5 - length(inside - front * size * 0.58), 0.0, 1.0) * step(5.0, size);
  pixel = vec4(mix(paint, rim, nose * 0.85) * cover, cover);
}`;

const TRAIL_VERTEX = `#version 300 es
in float end;
in vec2 older;
in vec2 newer;
in float tint;
uniform vec2 middle, pixels;
uniform float scale, share;
uniform sampler2D palette;
out vec3 colour;
void main() {
  vec2 place = (mix(older, newer, end * share) - middle) * scale;
  // Somebody who came or went has no way from there to here.
  bool broken = max(abs(older.x), abs(newer.x)) > 1e8;
  colour = texelFetch(palette, ivec2(int(tint), 0), 0).rgb;
  gl_Position = broken ? vec4(2.0, 2.0, 2.0, 1.0) : vec4(place * 2.0 / pixels, 0.0, 1.0);
}`;

const TRAIL_FRAGMENT = `#version 300 es
precision highp float;
in vec3 colour;
uniform float alpha;
out vec4 pixel;
void main() { pixel = vec4(colour * alpha, alpha); }`;

/** So many pieces of a trail are kept. */
const PIECES = 14;

type Uniforms = Record<string, WebGLUniformLocation | null>;

interface Program { program: WebGLProgram; at: Record<string, number>; uniform: Uniforms }

export class Crowd {
  private readonly gl: WebGL2RenderingContext;
  private readonly body: Program;
  private readonly trail: Program;
  private readonly corners: WebGLBuffer;
  private readonly ends: WebGLBuffer;
  private readonly buffers: Record<"before" | "now" | "radius" | "tint" | "heading", WebGLBuffer>;
  private readonly palette: WebGLTexture;
  /** Positions of some time ago, oldest first. */
  private past: { buffer: WebGLBuffer; ids: number }[] = [];
  private ids = 0;

  constructor(canvas: HTMLCanvasElement) {
    const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    if (!gl) throw new Error("This browser has no WebGL 2, which draws the crowd.");
    this.gl = gl;
    this.body = build(gl, BODY_VERTEX, BODY_FRAGMENT);
    this.trail = build(gl, TRAIL_VERTEX, TRAIL_FRAGMENT);
    const make = () => gl.createBuffer()!;
    this.buffers = { before: make(), now: make(), radius: make(), tint: make(), heading: make() };
    this.corners = this.filled(new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]));
    this.ends = this.filled(new Float32Array([0, 1]));
    this.palette = gl.createTexture()!;
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.NEAREST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  private filled(data: ArrayBufferView<ArrayBuffer>): WebGLBuffer {
    const buffer = this.gl.createBuffer()!;
    this.fill(buffer, data);
    return buffer;
  }

  private fill(buffer: WebGLBuffer, data: ArrayBufferView<ArrayBuffer>): void {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.DYNAMIC_DRAW);
  }

  /** 256 colours, of which `tint` chooses one for each agent. */
  setPalette(colours: Rgb[]): void {
    const texels = new Uint8Array(256 * 4).fill(255);
    colours.forEach((colour, place) => texels.set(colour, 4 * place));
    const gl = this.gl;
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, texels);
  }

  setRadii(radii: Float32Array<ArrayBuffer>): void {
    this.fill(this.buffers.radius, radii);
  }

  setTints(tints: Uint8Array<ArrayBuffer>): void {
    this.fill(this.buffers.tint, tints);
  }

  setPlaces(before: Float32Array<ArrayBuffer>, now: Float32Array<ArrayBuffer>, heading: Uint8Array<ArrayBuffer>): void {
    this.ids = heading.length;
    this.fill(this.buffers.before, before);
    this.fill(this.buffers.now, now);
    this.fill(this.buffers.heading, heading);
  }

  /** Remembers places for the trails. */
  remember(places: Float32Array<ArrayBuffer>): void {
    const oldest = this.past.length > PIECES ? this.past.shift() : undefined;
    const buffer = oldest?.buffer ?? this.gl.createBuffer()!;
    this.fill(buffer, places);
    this.past.push({ buffer, ids: places.length / 2 });
  }

  forget(): void {
    this.past.forEach(({ buffer }) => this.gl.deleteBuffer(buffer));
    this.past = [];
  }

  draw(camera: Camera, origin: Point, share: number, trails: boolean, rim: Rgb): void {
    const gl = this.gl;
    const canvas = gl.canvas as HTMLCanvasElement;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (this.ids === 0) return;
    const ratio = canvas.width / camera.size[0];
    const common = ({ program, uniform }: Program) => {
      gl.useProgram(program);
      gl.uniform2f(uniform.middle, camera.middle[0] - origin[0], camera.middle[1] - origin[1]);
      gl.uniform2f(uniform.pixels, canvas.width, canvas.height);
      gl.uniform1f(uniform.scale, camera.scale * ratio);
      gl.uniform1f(uniform.share, share);
    };
    if (trails) {
      common(this.trail);
      this.attribute(this.trail.at.end, this.ends, 1, gl.FLOAT, 0);
      this.attribute(this.trail.at.tint, this.buffers.tint, 1, gl.UNSIGNED_BYTE, 1);
      const newest = { buffer: this.buffers.now, ids: this.ids };
      [...this.past, newest].forEach((newer, place, all) => {
        if (place === 0) return;
        const older = all[place - 1];
        this.attribute(this.trail.at.older, older.buffer, 2, gl.FLOAT, 1);
        this.attribute(this.trail.at.newer, newer.buffer, 2, gl.FLOAT, 1);
        gl.uniform1f(this.trail.uniform.alpha, 0.6 * place / all.length);
        gl.uniform1f(this.trail.uniform.share, 1);
        gl.drawArraysInstanced(gl.LINES, 0, 2, Math.min(older.ids, newer.ids, this.ids));
      });
    }
    common(this.body);
    gl.uniform1f(this.body.uniform.least, 1.5 * ratio);
    gl.uniform3f(this.body.uniform.rim, rim[0] / 255, rim[1] / 255, rim[2] / 255);
    const { at } = this.body;
    this.attribute(at.corner, this.corners, 2, gl.FLOAT, 0);
    this.attribute(at.before, this.buffers.before, 2, gl.FLOAT, 1);
    this.attribute(at.now, this.buffers.now, 2, gl.FLOAT, 1);
    this.attribute(at.radius, this.buffers.radius, 1, gl.FLOAT, 1);
    this.attribute(at.tint, this.buffers.tint, 1, gl.UNSIGNED_BYTE, 1);
    this.attribute(at.heading, this.buffers.heading, 1, gl.UNSIGNED_BYTE, 1);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.ids);
  }

  private attribute(at: number, buffer: WebGLBuffer, size: number, type: number, divisor: number): void {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, false, 0, 0);
    gl.vertexAttribDivisor(at, divisor);
  }
}

function build(gl: WebGL2RenderingContext, vertex: string, fragment: string): Program {
  const program = gl.createProgram()!;
  for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]] as const) {
    const shader = gl.createShader(type)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  // One numbering for all programs, so that no attribute of one is left switched on where another has none.
  ["corner", "before", "now", "radius", "tint", "heading", "end", "older", "newer"].forEach((name, place) =>
    gl.bindAttribLocation(program, place, name),
  );
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "shader");
  const at: Record<string, number> = {};
  for (let place = 0; place < gl.getProgramParameter(program, gl.ACTIVE_ATTRIBUTES); place++) {
    const { name } = gl.getActiveAttrib(program, place)!;
    at[name] = gl.getAttribLocation(program, name);
  }
  const uniform: Uniforms = {};
  for (let place = 0; place < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); place++) {
    const { name } = gl.getActiveUniform(program, place)!;
    uniform[name] = gl.getUniformLocation(program, name);
  }
  return { program, at, uniform };
}
