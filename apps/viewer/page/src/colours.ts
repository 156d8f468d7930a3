// The colours of the pictures that `throng render` draws: crates/throng-render/src/colour.rs.

export type Rgb = [number, number, number];

const COHORTS: Rgb[] = [
  [0x00, 0x72, 0xb2], [0xd5, 0x5e, 0x00], [0x00, 0x9e, 0x73], [0xcc, 0x79, 0xa7],
  [0xe6, 0x9f, 0x00], [0x56, 0xb4, 0xe9], [0x7a, 0x5c, 0x3e],
];

const LINES: Rgb[] = [[0.36, -0.01, -0.16], [0.48, 0.12, -0.11], [0.6, 0.19, 0.04], [0.72, 0.09, 0.13], [0.82, 0.01, 0.15]];
const AREAS: Rgb[] = [[0.97, -0.01, 0.02], [0.9, -0.06, 0.06], [0.77, -0.1, 0.02], [0.6, -0.07, -0.07], [0.42, -0.01, -0.13], [0.27, 0.02, -0.1]];
const AREAS_DARK: Rgb[] = [[0.24, 0.01, -0.05], [0.36, 0.03, -0.13], [0.5, 0.1, -0.08], [0.64, 0.15, 0.03], [0.79, 0.05, 0.13], [0.94, -0.03, 0.13]];

export const isDark = () => document.documentElement.dataset.theme === "dark";

const mixed = (a: Rgb, b: Rgb, share: number): Rgb => [0, 1, 2].map((i) => Math.round(a[i] + (b[i] - a[i]) * share)) as Rgb;

/** A cohort's colour; after seven they return darker. */
export function cohort(place: number): Rgb {
  const shade = Math.min(Math.floor(place / COHORTS.length) * 0.3, 0.6);
  const colour = mixed(COHORTS[place % COHORTS.length], [0, 0, 0], shade);
  return isDark() ? mixed(colour, [255, 255, 255], 0.2) : colour;
}

export const lines = () => (isDark() ? AREAS_DARK.slice(1) : LINES);
export const areas = () => (isDark() ? AREAS_DARK : AREAS);

/** A ramp's colour at 0 to 1 (Ottosson's OKLab). */
export function ramp(stations: Rgb[], at: number): Rgb {
  const along = Math.min(Math.max(at, 0), 1) * (stations.length - 1);
  const station = Math.min(Math.floor(along), stations.length - 2);
  const [l, a, b] = [0, 1, 2].map((i) => stations[station][i] + (stations[station + 1][i] - stations[station][i]) * (along - station));
  const cube = (v: number) => v * v * v;
  const long = cube(l + 0.39633778 * a + 0.21580376 * b);
  const medium = cube(l - 0.105561346 * a - 0.06385417 * b);
  const short = cube(l - 0.08948418 * a - 1.2914855 * b);
  return [
    4.0767417 * long - 3.3077116 * medium + 0.23096994 * short,
    -1.268438 * long + 2.6097574 * medium - 0.34131938 * short,
    -0.0041960863 * long - 0.7034186 * medium + 1.7076147 * short,
  ].map(gamma) as Rgb;
}

function gamma(linear: number): number {
  const value = Math.min(Math.max(linear, 0), 1);
  return Math.round(255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055));
}

export const css = (colour: Rgb, alpha = 1) => `rgb(${colour.join(" ")} / ${alpha})`;

/** A colour of the page's theme. */
export const theme = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
