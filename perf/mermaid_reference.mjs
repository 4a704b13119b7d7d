// What the Mermaid parser itself finds in flowcharts: reads a JSON list of charts from standard input, writes a JSON
// list with nodes, edges and subgraphs of each, or its error. Started by mermaid_reference.py with the folder in which
// `npm install mermaid jsdom` was run.
import { createRequire } from "node:module";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const { JSDOM } = createRequire(join(folder, "index.js"))("jsdom");
const { window } = new JSDOM("");
Object.assign(globalThis, { window, document: window.document, DOMParser: window.DOMParser });
const { default: mermaid } = await import(pathToFileURL(join(folder, "node_modules/mermaid/dist/mermaid.core.mjs")));
mermaid.initialize({ startOnLoad: false, securityLevel: "loose" });

const found = [];
for (const chart of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    const { db, type } = await mermaid.mermaidAPI.getDiagramFromText(chart);
    if (!type.startsWith("flowchart")) throw new Error(`not a flowchart: ${type}`);
    found.push({
      nodes: [...db.getVertices().values()].map(({ id, text }) => [id, text ?? id]),
      edges: db.getEdges().map(({ start, end, type, text, stroke }) => [start, end, type, text, stroke]),
      boxes: db.getSubGraphs().map(({ id, title, nodes }) => [id, title, nodes]),
    });
  } catch (error) {
    found.push({ error: String(error.message ?? error) });
  }
}
process.stdout.write(JSON.stringify(found), () => process.exit(0));
