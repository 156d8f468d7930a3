// Writes down which source a build came from, so that a test without npm can tell whether it is still that.
// FNV-1a over names and contents, as apps/viewer/tests/page.rs has it.

import { readFileSync, readdirSync, writeFileSync } from "node:fs";

const files = readdirSync("src", { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => `${entry.parentPath}/${entry.name}`.replaceAll("\\", "/"))
  .concat("index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts")
  .sort((a, b) => (a < b ? -1 : 1));

let hash = 0xcbf29ce484222325n;
const mix = (bytes) => {
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
};
for (const file of files) {
  mix(Buffer.from(file));
  mix([0]);
  mix(readFileSync(file));
  mix([0]);
}
writeFileSync("../dist/source.txt", `${hash.toString(16).padStart(16, "0")}\n`);
