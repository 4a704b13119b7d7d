// What bpmn-moddle finds in BPMN files: reads a JSON list of texts from standard input, writes a JSON list with the
// warnings of each, and the counts of its nodes and flows. Started by bpmn_reference.py with the folder in which
// `npm install bpmn-moddle` was run.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.argv[2];
const entry = createRequire(join(folder, "index.js")).resolve("bpmn-moddle");
const { BpmnModdle, default: plain } = await import(pathToFileURL(entry));
const moddle = new (BpmnModdle ?? plain)();

const count = (element, found) => {
  for (const child of element.flowElements ?? []) {
    found[child.$type] = (found[child.$type] ?? 0) + 1;
    count(child, found);
  }
  return found;
};

const results = [];
for (const text of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    const { rootElement, warnings } = await moddle.fromXML(text);
    const counts = {};
    for (const element of rootElement.rootElements ?? []) count(element, counts);
    const { xml } = await moddle.toXML(rootElement);
    const again = await moddle.fromXML(xml);
    results.push({ warnings: [...warnings, ...again.warnings].map((each) => each.message), counts });
  } catch (error) {
    results.push({ warnings: [String(error.message ?? error)], counts: {} });
  }
}
process.stdout.write(JSON.stringify(results), () => process.exit(0));
