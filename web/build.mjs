// Builds the pages into the crates that embed them, or below the folder of the first argument.
// With --tests, builds the tests into build/tests.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, readdir, rm } from "node:fs/promises";

const common = { bundle: true, format: "esm", target: "es2022", charset: "utf8", legalComments: "none", logLevel: "warning" };

if (process.argv.includes("--tests")) {
  const tests = (await readdir("tests")).map((name) => `tests/${name}`);
  await rm("build/tests", { recursive: true, force: true });
  await build({ ...common, entryPoints: tests, outdir: "build/tests", platform: "node", outExtension: { ".js": ".mjs" } });
} else {
  const root = process.argv[2] ?? "..";
  const files = async (folder, entryPoints, pages, more = {}) => {
    const outdir = `${root}/${folder}`;
    await mkdir(outdir, { recursive: true });
    await build({ ...common, ...more, entryPoints, outdir });
    for (const name of pages) await copyFile(`src/${name}`, `${outdir}/${name}`);
  };
  // uPlot's licence wants its text beside every copy.
  const licence = (await readFile("node_modules/uplot/LICENSE", "utf8")).trim();
  const banner = { js: `/* Contains uPlot (https://github.com/leeoniya/uPlot):\n${licence}\n*/` };
  await files("crates/server/src/signalling/assets", { call: "src/main.ts", style: "src/style.css" }, ["start.html", "call.html", "icon.svg"]);
  // A file of its own, because JsSIP is larger than the page.
  await files("crates/server/src/signalling/assets", { ims: "src/ims.ts" }, [], { minify: true, legalComments: "inline" });
  await files("crates/dashboard/src/assets", { app: "src/dashboard/main.ts" }, ["app.html"], { banner });
  await files("crates/dashboard/src/assets", { app: "src/dashboard/app.css" }, []);
  await files("crates/report/src/assets", { zoom: "src/report/main.ts" }, [], { banner, minify: true });
  await files("crates/report/src/assets", { zoom: "src/report/zoom.css" }, [], { minify: true });
}
