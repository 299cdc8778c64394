// Builds the pages into the folder of the first argument (default: the assets that the server embeds).
// With --tests, builds the tests into build/tests.
import { build } from "esbuild";
import { copyFile, mkdir, readdir, rm } from "node:fs/promises";

const common = { bundle: true, format: "esm", target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  const tests = (await readdir("tests")).map((name) => `tests/${name}`);
  await rm("build/tests", { recursive: true, force: true });
  await build({ ...common, entryPoints: tests, outdir: "build/tests", platform: "node", outExtension: { ".js": ".mjs" } });
} else {
  const folder = process.argv[2] ?? "../crates/server/src/signalling/assets";
  await mkdir(folder, { recursive: true });
  await build({ ...common, entryPoints: { call: "src/main.ts", style: "src/style.css" }, outdir: folder });
  // A file of its own, because JsSIP is larger than the page.
  await build({ ...common, entryPoints: { ims: "src/ims.ts" }, outdir: folder, minify: true, legalComments: "inline" });
  for (const name of ["start.html", "call.html", "icon.svg"]) {
    await copyFile(`src/${name}`, `${folder}/${name}`);
  }
}
